"""What an embedding model's cosines mean: thresholds, calibrated for each model, kept in a file for each."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from pydantic import Field

from pegas_assets.embedding.base import Fingerprint
from pegas_assets.model import Frozen


class Profile(Frozen):
    """Thresholds of one model: cosines of two passages, except `weak_hit` and `unrelated`, which are a query's with a passage.

    `bench/calibrate.py` proposes them from the labelled pairs in `tests/calibration`; a test holds the file to that.
    """

    model: str
    duplicate: float = Field(ge=-1, le=1)
    """Below it, two statements in one language are no duplicates, whatever their words say."""
    cross_language_duplicate: float = Field(ge=-1, le=2)
    """The same across languages, where words cannot be compared. Above 1: never."""
    related: float = Field(ge=-1, le=1)
    """From it on, two statements speak of one thing."""
    weak_hit: float = Field(ge=-1, le=1)
    """Below it, a passage hardly answers the query."""
    unrelated: float = Field(ge=-1, le=1)
    """What a query and a passage that have nothing to do with each other have: the zero of the dense leg."""
    fusion_weight: float = Field(ge=0, le=1)
    """The dense leg's share of a fused score, for a query that the lexical leg covers whole."""


def load_profile(model: Fingerprint | str) -> Profile | None:
    """The profile of a model, by its fingerprint or its name; None where nobody calibrated it.

    A model without one refuses dedup, not search.
    """
    named = model.model if isinstance(model, Fingerprint) else model
    profiles = _profiles()
    if named in profiles:
        return profiles[named]
    parts = named.split(":")
    return profiles.get(":".join(parts[1:-3])) if len(parts) > 4 else None


@cache
def _profiles() -> dict[str, Profile]:
    folder = files("pegas_assets.embedding") / "profiles"
    found = [
        Profile.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    ]
    return {profile.model: profile for profile in found}
