"""What a parser may do over a hostile file."""

from __future__ import annotations

import os
import time

from pegas_assets.errors import Refused


def echo(value: object) -> object:
    print("a banner of the library", flush=True)
    os.write(1, b"and one of its C code\n")
    return value


def swell() -> int:
    return len(bytearray(1 << 40))


def hang() -> None:
    time.sleep(600)


def crash() -> None:
    os.kill(os.getpid(), 11)


def fail() -> None:
    raise ValueError("bad\nxref.")


def refuse() -> None:
    refused = Refused("It has no text.", hint="Run OCR.", item="a.pdf")
    refused.needs_ocr = True
    raise refused


def process() -> int:
    return os.getpid()
