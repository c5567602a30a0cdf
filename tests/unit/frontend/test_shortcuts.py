"""The keys of the review collide with nothing that JupyterLab and Notebook 7 bind."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

OURS = Path(__file__).parents[3] / "labextension" / "schema" / "plugin.json"
SCHEMAS = Path(sys.prefix) / "share" / "jupyter" / "lab" / "schemas"
KEYS = ("keys", "winKeys", "macKeys", "linuxKeys")


ELSEWHERE = (".jp-DirListing", ".jp-FileBrowser")
"""Ours are bound in notebooks: keys of the file browser (F2 renames a file) are none of theirs."""


def shortcuts_of(schema: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(schema.read_text(encoding="utf-8")).get("jupyter.lab.shortcuts", [])
    return found


def bound(schema: Path) -> list[tuple[str, ...]]:
    """The key sequences of a plugin that can reach a notebook; on a Mac `Accel` is `Cmd`, elsewhere `Ctrl`."""
    reaching = [shortcut for shortcut in shortcuts_of(schema) if not shortcut["selector"].startswith(ELSEWHERE)]
    written = [tuple(shortcut[key]) for shortcut in reaching for key in KEYS if any(shortcut.get(key, ()))]
    return [
        tuple(stroke.replace("Accel", accel) for stroke in sequence)
        for sequence in written
        for accel in ("Ctrl", "Cmd")
    ]


def test_no_shortcut_of_ours_equals_or_begins_one_of_jupyterlab_or_notebook() -> None:
    if not SCHEMAS.is_dir():
        pytest.skip("JupyterLab is not installed in this environment")
    theirs = [
        sequence
        for schema in SCHEMAS.rglob("*.json")
        if schema.name != "package.json.orig"
        for sequence in bound(schema)
    ]
    ours = bound(OURS)
    assert ("F8",) in ours
    assert not any(one["selector"].startswith(ELSEWHERE) for one in shortcuts_of(OURS))
    assert ("Ctrl S",) in theirs  # they were read
    for mine in ours:
        for other in theirs:
            length = min(len(mine), len(other))
            assert mine[:length] != other[:length], f"{mine} collides with {other}"


def test_every_command_can_be_given_keys_in_the_settings_editor() -> None:
    shortcuts = shortcuts_of(OURS)
    source = (OURS.parents[1] / "src" / "commands.ts").read_text(encoding="utf-8")
    commands = {line.split("'")[1] for line in source.splitlines() if ": 'jupyter-codeagent:" in line}
    assert commands == {shortcut["command"] for shortcut in shortcuts}
