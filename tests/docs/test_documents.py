"""What README, CONTRIBUTING, `.env.example` and the Makefile say is so."""

from __future__ import annotations

import itertools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from pegas_assets.settings import Settings

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands() -> dict[str, set[str]]:
    """Command → its options, as the program has them."""
    from typer.main import get_command

    from pegas_assets.cli.main import app

    group = get_command(app)
    return {
        name: {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        for name, command in group.commands.items()  # type: ignore[attr-defined]
    }


def default_of(name: str) -> str:
    """A setting's default as one writes it in the environment; that of the home depends on the user."""
    value = None if name == "home" else Settings.model_fields[name].get_default(call_default_factory=True)
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if value is None or value == ():
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def test_every_command_that_the_readme_names_exists_and_each_is_named() -> None:
    known = commands()
    named = set(re.findall(r"`pegas ([a-z]+)", README)) | set(re.findall(r"(?m)^pegas ([a-z]+)", README))
    assert named == set(known)


def test_every_option_that_the_readme_shows_exists() -> None:
    known = commands()
    for line in re.findall(r"(?m)^(?:.*\| )?pegas ([a-z]+ .*)$", README):
        name, *words = line.split()
        for option in (word for word in words if word.startswith("--")):
            assert option in known[name], line


def test_the_readme_names_the_tools_that_the_server_has() -> None:
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "pegas_mcp" / "tools").glob("*.py"))
    assert set(re.findall(r"`(memory_\w+)`", README)) == set(re.findall(r"def (memory_\w+)\(", sources))


def test_what_prints_data_prints_json() -> None:
    assert [name for name, options in commands().items() if "--json" not in options] == ["demo"]


def test_the_settings_table_is_the_settings() -> None:
    rows = dict(re.findall(r"(?m)^\| `(PEGAS_\w+)` \| (.+?) \| .+ \|$", README))
    assert sorted(rows) == sorted(f"PEGAS_{name.upper()}" for name in Settings.model_fields)
    for name in Settings.model_fields:
        default = default_of(name)
        shown = rows[f"PEGAS_{name.upper()}"]
        assert shown == (f"`{default}`" if default else ("by user" if name == "home" else "–")), name


def test_the_example_environment_is_the_settings_each_with_a_line() -> None:
    lines = (ROOT / ".env.example").read_text("utf-8").splitlines()
    found = {}
    for before, line in itertools.pairwise(lines):
        if match := re.fullmatch(r"#(PEGAS_\w+)=(.*)", line):
            assert re.fullmatch(r"# \S.*\.", before), line
            found[match[1]] = match[2]
    assert found == {f"PEGAS_{name.upper()}": default_of(name) for name in Settings.model_fields}


def test_a_setting_that_explains_itself_says_the_same_everywhere() -> None:
    example = (ROOT / ".env.example").read_text("utf-8")
    for name, setting in Settings.model_fields.items():
        if setting.description:
            opening = re.split(r"[;.]", setting.description)[0]
            assert opening in example, name
            assert opening in README, name


def targets() -> dict[str, str]:
    return dict(re.findall(r"(?m)^([a-z-]+):.*?## (.+)$", MAKEFILE))


def test_every_make_target_has_a_line_of_help() -> None:
    phony = re.search(r"(?m)^\.PHONY: (.+)$", MAKEFILE)
    assert phony is not None
    assert set(phony[1].split()) == set(targets())
    shown = subprocess.run(["make", "-s"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30).stdout
    for target, line in targets().items():
        assert re.search(rf"make {target} +{re.escape(line)}", shown), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_target_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    quoted = re.findall(r"`make ([a-z -]+)`", text) + re.findall(r"(?m)^make ([a-z -]+?)(?: +#| *$)", text)
    for target in " ".join(quoted).split():
        assert target in targets(), target


def links(page: Path) -> Iterator[str]:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" not in target and not target.startswith("#"):
            yield target.split("#")[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_link_leads_nowhere(page: Path) -> None:
    for target in links(page):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_of_ours_that_a_page_names_exists(page: Path) -> None:
    for name in re.findall(
        r"`((?:pegas_assets|pegas_mcp|sql|tests|bench|docs|examples)/[\w/.-]+)`", page.read_text("utf-8")
    ):
        assert (ROOT / name).exists(), name


def test_the_vocabulary_names_tables_that_exist() -> None:
    schema = "".join(path.read_text("utf-8") for path in sorted((ROOT / "sql").glob("*.sql")))
    domain = (ROOT / "docs" / "DOMAIN.md").read_text("utf-8")
    for table in set(re.findall(r"`(pm_\w+)`", domain)):
        assert f"CREATE TABLE {table} " in schema, table


def test_the_pins_that_are_explained_are_the_pins() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    page = (ROOT / "docs" / "decisions" / "0002-pins.md").read_text("utf-8")
    for name, version in re.findall(r"`([a-z0-9-]+)` (\d[\w.]+)", page):
        assert f"{name}=={version}" in project or name == "dagster-postgres", name
        assert f"{name}=={version}" in lock, name
    assert "://" not in lock


def test_no_page_or_script_holds_a_path_of_a_machine() -> None:
    for path in (*PAGES, ROOT / "Makefile", ROOT / ".ci" / "run", ROOT / ".env.example"):
        assert not re.search(r"/root/|/home/[a-z]|/work/|/tmp/", path.read_text("utf-8")), path.name


def test_the_licence_is_the_whole_agpl() -> None:
    licence = (ROOT / "LICENSE").read_text("utf-8")
    assert "GNU AFFERO GENERAL PUBLIC LICENSE" in licence.splitlines()[0]
    assert "13. Remote Network Interaction" in licence
    assert "END OF TERMS AND CONDITIONS" in licence


def test_the_examples_are_in_two_languages() -> None:
    texts = [path.read_bytes() for path in sorted((ROOT / "examples").iterdir()) if path.is_file()]
    assert sum(b"charset=windows-1251" in text or "прополис".encode() in text.lower() for text in texts) >= 2
    assert sum(b" the " in text for text in texts) >= 3
