"""Subtitles read as what was said, at the time it was."""

from __future__ import annotations

import pytest

from pegas_assets.errors import Refused
from pegas_assets.sources.registry import parse

SRT = """1
00:00:01,000 --> 00:00:03,000
<i>Granite domes shed</i> sheets of rock

2
00:00:03,100 --> 00:00:05,000
{\\an8}when the pressure above them falls.

3
00:00:12,500 --> 00:00:14,000
- Is that so?
- Yes, it is.

4
00:01:00.500 --> 00:01:02,000
[music]
5
100:01:03,000 --> 100:01:04,000
Without a blank line before."""
VTT = """WEBVTT
Kind: captions

NOTE a comment
over two lines

STYLE
::cue { color: red }

intro
00:01.000 --> 00:04.000 align:start position:0%
<v Ann Lee>Hello <c.yellow>there</c>, it&#39;s late.

00:05.000 --> 00:07.000
<v Bob>Yes.
"""


@pytest.mark.parametrize("name", ["a.srt", "noname", "a.txt"])
def test_cues_become_paragraphs_with_their_times(name: str) -> None:
    document = parse(SRT.encode(), name=name)
    assert document.text == (
        "Granite domes shed sheets of rock when the pressure above them falls.\n\n- Is that so?\n- Yes, it is.\n\n"
        "Without a blank line before."
    )
    (chunk,) = document.chunks
    assert chunk.locator.time == 1.0
    start = document.text.index("when the pressure")
    assert chunk.locator.within(start, start + 5).time == pytest.approx(3.1)
    assert [turn.value for turn in chunk.locator.turns][-1] == 100 * 3600 + 63


def test_speakers_are_named_and_styling_goes() -> None:
    assert parse(VTT.encode(), name="a.vtt").text == "Ann Lee: Hello there, it's late.\n\nBob: Yes."


def test_captions_that_roll_are_there_once() -> None:
    rolling = "WEBVTT\n\n" + "\n\n".join(
        f"00:00:0{at}.000 --> 00:00:0{at + 1}.000\n{text}"
        for at, text in enumerate(
            ["granite domes", "granite domes\nshed their sheets", "shed their sheets\nin the frost"]
        )
    )
    assert parse(rolling.encode(), name="a.vtt").text == "granite domes shed their sheets in the frost"
    growing = "WEBVTT\n\n" + "\n\n".join(
        f"00:00:0{at}.000 --> 00:00:0{at + 1}.000\n{text}"
        for at, text in enumerate(["granite", "granite domes", "granite domes shed"])
    )
    assert parse(growing.encode(), name="a.vtt").text == "granite domes shed"


def test_the_same_words_said_again_later_are_said_again() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\nYes.\n\n2\n00:00:30,000 --> 00:00:31,000\nYes.\n"
    assert parse(text.encode(), name="a.srt").text == "Yes.\n\nYes."


def test_a_cyrillic_code_page_and_a_file_without_words() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\nНасос работает всю ночь, и вода уходит.\n"
    assert parse(text.encode("cp1251"), name="a.srt").text == "Насос работает всю ночь, и вода уходит."
    with pytest.raises(Refused, match="no words"):
        parse(b"1\n00:00:01,000 --> 00:00:02,000\n\n", name="a.srt")
