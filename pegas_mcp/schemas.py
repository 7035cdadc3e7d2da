"""JSON schemas as small as they can be said: `tools/list` is read into every agent's context."""

from __future__ import annotations

from typing import Any

_DROPPED = ("title", "$defs")


def flat(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema without titles and references, and with `T or null` as a list of types.

    An empty default says nothing and goes. The schemas here are not recursive.
    """
    made = _flat(schema, schema.get("$defs", {}))
    assert isinstance(made, dict)
    return made


def flat_output(schema: dict[str, Any]) -> dict[str, Any]:
    """A flat schema of an answer: names and types. What a field is when left out, and what a list's items must have,
    need not be said."""
    made = flat(schema)
    return {
        "type": "object",
        "properties": {name: _bare(value) for name, value in made["properties"].items()},
        "required": made.get("required", []),
    }


def _bare(node: dict[str, Any]) -> dict[str, Any]:
    made = {key: value for key, value in node.items() if key not in ("default", "required")}
    if made.get("additionalProperties") is False:
        del made["additionalProperties"]
    if "properties" in made:
        made["properties"] = {name: _bare(value) for name, value in made["properties"].items()}
    if "items" in made:
        made["items"] = _bare(made["items"])
    return made


def _flat(node: Any, definitions: dict[str, Any], *, names: bool = False) -> Any:
    """`names` is true where a dict's keys are names of properties, which are kept whatever they are."""
    if isinstance(node, list):
        return [_flat(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if names:
        return {key: _flat(value, definitions) for key, value in node.items()}
    node = dict(node)
    if "$ref" in node:
        definition = definitions[node.pop("$ref").rsplit("/", 1)[-1]]
        # What a class says about itself is for readers of the code.
        node = {**{key: value for key, value in definition.items() if key != "description"}, **node}
    node = _without_null(node)
    if node.get("default", 0) in (None, "", [], (), {}):
        node.pop("default")
    made = {}
    for key, value in node.items():
        if key not in _DROPPED:
            made[key] = _flat(value, definitions, names=key == "properties")
    return made


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    arms = node.get("anyOf")
    if not isinstance(arms, list) or len(arms) != 2 or {"type": "null"} not in arms:
        return node
    other = next(arm for arm in arms if arm != {"type": "null"})
    if not isinstance(other.get("type"), str):
        return node
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    return {**other, **rest, "type": [other["type"], "null"]}
