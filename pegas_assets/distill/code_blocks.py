"""Code: what a block is called by, in which language, and what it is for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pegas_assets.distill.sentence import plain, shortened
from pegas_assets.model import AtomType, Block, ChunkToDistil, DistilledAtom

MAX_QUOTATION_CHARS = 4000
MAX_SYMBOLS = 20

LANGUAGES = {
    "py": "python", "python": "python", "python3": "python", "pycon": "python", "js": "javascript",
    "javascript": "javascript", "jsx": "javascript", "ts": "typescript", "typescript": "typescript",
    "tsx": "typescript", "sh": "shell", "bash": "shell", "zsh": "shell", "shell": "shell", "console": "shell",
    "rs": "rust", "rust": "rust", "go": "go", "golang": "go", "c": "c", "h": "c", "cpp": "c++", "c++": "c++",
    "cc": "c++", "cs": "c#", "csharp": "c#", "java": "java", "kt": "kotlin", "kotlin": "kotlin", "rb": "ruby",
    "ruby": "ruby", "php": "php", "sql": "sql", "json": "json", "yaml": "yaml", "yml": "yaml", "toml": "toml",
    "ini": "ini", "html": "html", "css": "css", "xml": "xml", "r": "r", "lua": "lua", "swift": "swift",
    "scala": "scala", "make": "make", "makefile": "make", "dockerfile": "dockerfile", "cypher": "cypher",
    "diff": "diff", "haskell": "haskell", "hs": "haskell",
}  # fmt: skip
DISPLAY = {
    "python": "Python", "javascript": "JavaScript", "typescript": "TypeScript", "shell": "Shell", "rust": "Rust",
    "go": "Go", "c": "C", "c++": "C++", "c#": "C#", "java": "Java", "kotlin": "Kotlin", "ruby": "Ruby", "php": "PHP",
    "sql": "SQL", "json": "JSON", "yaml": "YAML", "toml": "TOML", "ini": "INI", "html": "HTML", "css": "CSS",
    "xml": "XML", "r": "R", "lua": "Lua", "swift": "Swift", "scala": "Scala", "cypher": "Cypher", "haskell": "Haskell",
}  # fmt: skip

_NAME = r"([A-Za-z_][\w]{0,80})"
DEFINITIONS = (
    rf"(?m)^[ \t]*(?:async[ \t]+)?def[ \t]+{_NAME}",
    rf"(?m)^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:public[ \t]+|private[ \t]+|abstract[ \t]+|final[ \t]+|pub[ \t]+|data[ \t]+)*"
    rf"(?:class|interface|struct|enum|trait|impl|object|module)[ \t]+{_NAME}",
    rf"(?m)^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:async[ \t]+)?function\*?[ \t]+{_NAME}",
    rf"(?m)^[ \t]*(?:export[ \t]+)?(?:const|let|var)[ \t]+{_NAME}[ \t]*(?::[^=\n]{{1,80}})?=",
    rf"(?m)^[ \t]*(?:pub(?:\([a-z]+\))?[ \t]+)?(?:async[ \t]+|unsafe[ \t]+|const[ \t]+)*fn[ \t]+{_NAME}",
    rf"(?m)^[ \t]*func[ \t]+(?:\([^)\n]{{1,80}}\)[ \t]*)?{_NAME}",
    rf"(?m)^[ \t]*type[ \t]+{_NAME}[ \t]+(?:struct|interface|=)",
    rf"(?mi)^[ \t]*create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:unique[ \t]+)?(?:table|view|index|function|materialized[ \t]+view)[ \t]+(?:if[ \t]+not[ \t]+exists[ \t]+)?{_NAME}",
    rf"(?m)^(?:static[ \t]+|inline[ \t]+|extern[ \t]+|const[ \t]+|unsigned[ \t]+)*(?:int|void|char|float|double|bool|long|size_t)[ \t*]+{_NAME}[ \t]*\([^;\n]{{0,200}}\)[ \t]*\{{?[ \t]*$",
    rf"(?m)^[ \t]*(?:public|private|protected)[ \t]+(?:static[ \t]+)?[\w<>\[\],]{{1,60}}[ \t]+{_NAME}[ \t]*\(",
    rf"(?m)^{_NAME}[ \t]*=[ \t]*\S",
)
_DEFINITIONS = tuple(re.compile(pattern) for pattern in DEFINITIONS)
_CALL = re.compile(r"(?<![\w])([A-Za-z_][\w]{0,60}(?:\.[A-Za-z_]\w{0,60}){0,3})[ \t]*\(")
_NOT_CALLS = frozenset(
    [
        "if",
        "for",
        "while",
        "switch",
        "catch",
        "return",
        "print",
        "and",
        "or",
        "not",
        "in",
        "with",
        "assert",
        "def",
        "function",
        "elif",
        "super",
    ]
)
_FENCE_LINE = re.compile(r"[ \t]*(?:```+|~~~+)[^\n]*(?:\n|$)")
_CLOSING_FENCE = re.compile(r"\n?[ \t]*(?:```+|~~~+)[ \t]*\s*$")
_PROMPT = re.compile(r"(?m)^[ \t]*(?:\$|>>>|>)[ \t]+(\S[^\n]*)")
SIGNS = (
    ("python", re.compile(r"(?m)^[ \t]*(?:def \w+\(|from [\w.]+ import |import [\w.]+[ \t]*$|class \w+.*:$)")),
    ("sql", re.compile(r"(?mi)^[ \t]*(?:select\b.+\bfrom\b|create table|insert into)")),
    ("rust", re.compile(r"(?m)^[ \t]*(?:pub )?fn \w+|let mut ")),
    ("go", re.compile(r"(?m)^(?:package \w+$|func )")),
    ("javascript", re.compile(r"(?m)^[ \t]*(?:function \w+\(|const \w+ =|let \w+ =|import .+ from )")),
    ("c", re.compile(r"(?m)^#include ")),
    ("shell", re.compile(r"(?m)^[ \t]*(?:\$ |(?:pip|npm|apt|git|docker|curl|sudo|make|cargo) )")),
)


def code_of(content: str, block: Block) -> tuple[str, int]:
    """The code of a block without its fences, and where it starts in the chunk."""
    raw = content[block.start : block.end]
    start = block.start
    opening = _FENCE_LINE.match(raw)
    if opening:
        raw, start = raw[opening.end() :], start + opening.end()
        closing = _CLOSING_FENCE.search(raw[-400:])
        if closing:
            raw = raw[: len(raw) - len(raw[-400:]) + closing.start()]
    return raw, start


def language_of(code: str, info: str) -> str:
    """The language, by the fence's word or by what the code looks like; empty where neither tells."""
    words = info.strip().strip("{}.").lower().split()
    if words:
        return LANGUAGES.get(words[0], words[0][:30])
    return next((name for name, sign in SIGNS if sign.search(code[:4000])), "")


def symbols_of(code: str) -> list[str]:
    """The names that the code defines, in the order of their places, at most 20."""
    places = [(found.start(1), found.group(1)) for pattern in _DEFINITIONS for found in pattern.finditer(code[:20_000])]
    return list(dict.fromkeys(name for _, name in sorted(places)))[:MAX_SYMBOLS]


def calls_of(code: str) -> list[str]:
    """The names that the code calls, in order, at most five."""
    names = (found.group(1) for found in _CALL.finditer(code[:4000]))
    return list(dict.fromkeys(name for name in names if name.lower() not in _NOT_CALLS))[:5]


def extract_code(chunk: ChunkToDistil, block: Block, lead: str = "") -> Iterator[DistilledAtom]:
    """The atom of a code block. `lead` is the sentence that announces it."""
    code, start = code_of(chunk.content, block)
    kept = code.strip("\n").rstrip()
    if len(kept.strip()) < 3 or not re.search(r"\w", kept):
        return
    start += len(code) - len(code.lstrip("\n"))
    language = language_of(kept, block.info or _info_of(chunk.content, block))
    symbols = symbols_of(kept) if language not in ("shell", "json", "yaml", "toml", "ini", "diff") else []
    cut = kept.rfind("\n", 0, MAX_QUOTATION_CHARS) if len(kept) > MAX_QUOTATION_CHARS else len(kept)
    quotation = kept[: cut if cut > 0 else MAX_QUOTATION_CHARS].rstrip()
    yield DistilledAtom(
        type=AtomType.CODE,
        claim=_claim(chunk, kept, language, symbols, lead),
        content=kept,
        quotation=quotation,
        start=start,
        end=start + len(quotation),
        confidence=0.9 if symbols else 0.75,
        metadata={"language": language, "symbols": symbols, "lines": kept.count("\n") + 1},
    )


def _info_of(content: str, block: Block) -> str:
    opening = re.match(r"[ \t]*(?:```+|~~~+)[ \t]*([\w+#.-]*)", content[block.start : block.end][:100])
    return opening.group(1) if opening else ""


def _claim(chunk: ChunkToDistil, code: str, language: str, symbols: list[str], lead: str) -> str:
    russian = chunk.language == "ru"
    name = DISPLAY.get(language, language)
    if symbols:
        named = ", ".join(symbols[:4]) + ("…" if len(symbols) > 4 else "")
        what = f"определяет {named}" if russian else f"defines {named}"
    else:
        what = _first_command(code) if language == "shell" else ", ".join(calls_of(code)[:3])
        if not what and language in ("", "text"):
            what = next(line.strip() for line in code.splitlines() if line.strip())[:60]
    head = (f"Код на {name}" if name else "Код") if russian else (f"{name} code" if name else "Code")
    where = [plain(part) for part in (chunk.section[-1] if chunk.section else chunk.document_title, lead.rstrip(": "))]
    about = " — ".join(part for part in where if part)
    return shortened(": ".join(part for part in (head, what) if part) + (f" ({about})" if about else ""))


def _first_command(code: str) -> str:
    prompt = _PROMPT.search(code)
    line = prompt.group(1) if prompt else next((line for line in code.splitlines() if line.strip()), "")
    return line.strip()[:80]
