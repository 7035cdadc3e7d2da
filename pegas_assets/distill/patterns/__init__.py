"""Word lists and phrases of the extractive rules, one module for each language: data, no logic."""


def words(text: str) -> frozenset[str]:
    """The words of a list written as text."""
    return frozenset(text.split())


def phrases(text: str) -> tuple[str, ...]:
    """The phrases of a list written one a line; each is looked for between word boundaries."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())
