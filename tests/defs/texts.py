"""Small documents, each with a paragraph that no other has."""

from __future__ import annotations

TOPICS = (
    ("Propolis", "a resin that bees collect from the buds of poplars", "It seals cracks of the hive before winter."),
    ("Basalt", "a dark rock that forms when lava cools quickly", "It covers most of the ocean floor."),
    ("Kvass", "a sour drink that is brewed from rye bread", "It ferments for two days in a warm kitchen."),
    ("Sextant", "an instrument that measures the angle between two objects", "Sailors used it to find their latitude."),
    ("Permafrost", "ground that stays frozen for at least two years", "It holds more carbon than the air above it."),
    ("Loom", "a machine that weaves yarn into cloth", "Its shuttle carries the weft from side to side."),
    ("Tide gauge", "a station that records the height of the sea", "The oldest series begins in Amsterdam."),
    ("Yeast", "a fungus that turns sugar into alcohol", "It also makes bread rise in an hour."),
)


def document(number: int) -> str:
    """The text of a document; the number makes it unlike any other."""
    name, what, fact = TOPICS[number % len(TOPICS)]
    return f"# {name} {number}\n\n{name} is {what}. {fact} This note is number {number} of the collection.\n"
