"""Reads subtitles (SRT, WebVTT): what is said as paragraphs, each found again by its time."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from pegas_assets.errors import Refused
from pegas_assets.model import BlockKind, ParsedDocument
from pegas_assets.sources.composing import Composer, composed
from pegas_assets.sources.reading import Reading
from pegas_assets.text.cleaning import clean_text

READER = "subtitles/1"

_STAMP = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?"
_TIMING = re.compile(rf"^\s*{_STAMP}\s*-+>\s*{_STAMP}.*$")
_TAG = re.compile(
    r"</?(?:[biusc]|font|ruby|rt|v|lang|c\.[\w.]+)\b[^>]*>|<\d[\d:.]*>|\{\\?[a-z]+\d?[^}]*\}", re.IGNORECASE
)
_VOICE = re.compile(r"<v(?:\.[\w.]+)?\s+([^>]+)>", re.IGNORECASE)
_SPEAKER = re.compile(r"^(?:[-–—]\s*)?([A-ZА-ЯЁ][\w.' -]{0,40}|\[[^\]]{1,40}\]):\s+\S")
_DASH = re.compile(r"^[-–—]\s+")
_SOUND = re.compile(r"^[\[(♪♫#][^\])]*[\])♪♫#]?$")
_ENDED = re.compile(r"[.!?…][\"»”’)\]]*$")
_PAUSE_S = 2.5
_LONG_CHARS = 500


@dataclass
class _Cue:
    start: float
    end: float
    text: str
    speaker: str = ""


def looks_like_subtitles(text: str) -> bool:
    """Whether a text is one of these, by its first lines."""
    head = text.lstrip("\ufeff")[:3000]
    if re.match(r"WEBVTT(?:[ \t\n]|\Z)", head):
        return True
    timings = [line for line in head.split("\n") if _TIMING.match(line)]
    return len(timings) >= 1 and bool(re.match(rf"\s*(?:\d+\s*\n)?\s*{_STAMP}\s*-+>", head))


def read_subtitles(body: bytes, reading: Reading) -> ParsedDocument:
    """A document from the bytes of subtitles: cues joined to sentences, and these to paragraphs at pauses and turns.

    Styling, positions, notes and numbers go; a line that automatic captions repeat is there once; a named speaker opens
    the paragraph. The place of a paragraph is its time, in seconds from the start.

    Raises:
        Refused: no cue with words in it.
    """
    decoded = reading.decoded(body)
    cues = _unrolled(_cues(clean_text(decoded.text)))
    if not cues:
        raise Refused("The subtitles have no words in them.", hint="Check that the file is whole.", item=reading.name)
    composer = Composer("time")
    paragraph: list[_Cue] = []
    for cue in cues:
        if paragraph and _opens(paragraph, cue):
            _add(composer, paragraph)
            paragraph = []
        paragraph.append(cue)
    _add(composer, paragraph)
    return composed(
        composer,
        reading,
        reader=READER,
        decoded=decoded,
        meta={"seconds": round(max(cue.end for cue in cues))},
        warnings=decoded.warnings,
    )


def _cues(text: str) -> list[_Cue]:
    cues: list[_Cue] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        match = _TIMING.match(lines[at])
        if not match:
            at += 1
            continue
        at += 1
        words: list[str] = []
        while at < len(lines) and not _TIMING.match(lines[at]):
            # A blank line ends a cue, unless what follows is neither a number, a name nor a timing.
            if not lines[at].strip() and (not any(line.strip() for line in words) or _cue_follows(lines, at)):
                break
            words.append(lines[at])
            at += 1
        # The number of the next cue, where no blank line stands before it.
        if at < len(lines) and _TIMING.match(lines[at]) and words and words[-1].strip().isdigit():
            words.pop()
        cue = _cue(match, words)
        if cue is not None:
            cues.append(cue)
    cues.sort(key=lambda cue: cue.start)
    return cues


def _cue_follows(lines: list[str], at: int) -> bool:
    following = [line for line in lines[at : at + 6] if line.strip()][:2]
    if not following:
        return True
    return bool(
        _TIMING.match(following[0])
        or (len(following) > 1 and _TIMING.match(following[1]))
        or re.match(r"(?:NOTE|STYLE|REGION)\b", following[0])
    )


def _cue(timing: re.Match[str], lines: list[str]) -> _Cue | None:
    said: list[str] = []
    speaker = ""
    for line in lines:
        if re.match(r"(?:NOTE|STYLE|REGION)\b", line):
            break
        if voice := _VOICE.search(line):
            speaker = " ".join(html.unescape(voice.group(1)).split())
        line = html.unescape(_TAG.sub("", line)).strip()
        if line and not _SOUND.match(line):
            said.append(line)
    text = "\n".join(said)
    if not text:
        return None
    if not speaker and (named := _SPEAKER.match(text)):
        speaker = named.group(1)
        text = text[named.end(1) + 1 :].strip()
    first, last = timing.groups()[:4], timing.groups()[4:]
    return _Cue(_seconds(*first), _seconds(*last), text, speaker)


def _seconds(hours: str | None, minutes: str, seconds: str, millis: str | None) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int((millis or "0").ljust(3, "0")) / 1000


def _unrolled(cues: list[_Cue]) -> list[_Cue]:
    """Captions that roll show each line twice or more: every line counts where it comes first."""
    kept: list[_Cue] = []
    shown: list[str] = []
    for cue in cues:
        lines = [line for line in cue.text.split("\n") if line not in shown]
        before = kept[-1] if kept else None
        if before is not None and len(lines) == 1 and cue.start - before.end < _PAUSE_S:
            last = before.text.split("\n")[-1]
            if lines[0].startswith(last) and len(lines[0]) > len(last) > 3:
                # The line grows word by word.
                before.text = before.text[: -len(last)] + lines[0]
                before.end = max(before.end, cue.end)
                shown = lines
                continue
        text = "\n".join(lines) if before is None or cue.start - before.end < _PAUSE_S else cue.text
        shown = cue.text.split("\n")
        if text:
            kept.append(_Cue(cue.start, cue.end, text, cue.speaker))
    return kept


def _opens(paragraph: list[_Cue], cue: _Cue) -> bool:
    last = paragraph[-1]
    if cue.speaker and cue.speaker != next((one.speaker for one in reversed(paragraph) if one.speaker), ""):
        return True
    if _DASH.match(cue.text):
        return True
    ended = bool(_ENDED.search(last.text))
    if cue.start - last.end > 2 * _PAUSE_S or (ended and cue.start - last.end > _PAUSE_S):
        return True
    size = sum(len(one.text) for one in paragraph)
    return (ended and size > _LONG_CHARS) or size > 3 * _LONG_CHARS


def _add(composer: Composer, paragraph: list[_Cue]) -> None:
    speaker = next((cue.speaker for cue in paragraph if cue.speaker), "")
    text = f"{speaker}: " if speaker else ""
    turns: list[tuple[int, float]] = []
    for cue in paragraph:
        turns.append((len(text), cue.start))
        # Two people in one cue have a dash each.
        text += "\n".join(" ".join(part.split()) for part in re.split(r"\n(?=[-–—]\s)", cue.text)) + " "
    start = composer.length + (2 if composer.blocks else 0)
    composer.add(BlockKind.PARAGRAPH, text.strip(), at=paragraph[0].start)
    for offset, at in turns[1:]:
        composer.mark(at, start + offset)
