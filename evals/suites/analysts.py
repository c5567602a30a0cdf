"""Questions as analysts ask them, over made-up tables, in two wordings: `evals/analysts/README.md`.

Their figures were computed by the reference programs, and again in another way, when they were written.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from evals.checks import (
    all_of,
    at_most_numbers,
    cell,
    figure,
    has_bars,
    has_line,
    has_points,
    in_order,
    labelled,
    number,
    says,
    says_not,
)
from evals.task import Check, FigureFacts, Task, Turn

FOLDER = Path(__file__).parent.parent / "analysts"
Third = Literal["dev", "test", "sealed"]
Wording = Literal["careful", "colloquial"]
THIRDS: tuple[Third, ...] = get_args(Third)
WORDINGS: tuple[Wording, ...] = get_args(Wording)


def analyst_tasks(third: Third, wording: Wording) -> list[Task]:
    """Return the tasks of one third of the sets, asked in one of the two wordings."""
    return [_task(found, wording) for path in sorted(FOLDER.glob(f"{third}_*.json")) for found in _read(path)]


def _read(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return found


def _task(found: Mapping[str, Any], wording: Wording) -> Task:
    return Task(
        id=found["id"] if wording == "careful" else f"{found['id']}-{wording}",
        topic=found["topic"],
        source="made up",
        setup=without_leftovers(text_of(found["setup"]), found["variables"]),
        variables=tuple(found["variables"]),
        turns=tuple(
            Turn(
                prompt=turn[wording],
                check=check_of(turn["check"]),
                reference=text_of(turn["reference"]),
                wrong=tuple(text_of(program) for program in turn["wrong"]),
            )
            for turn in found["turns"]
        ),
    )


def without_leftovers(setup: str, variables: Sequence[str]) -> str:
    """Return the set-up that leaves tables only, not the arrays, loops' variables and generators that made them.

    An array `price` beside the column `price` is no user's notebook, and was taken for it.
    """
    tree = ast.parse(setup)
    of_loops = sorted(set().union(*(_stored(node) for node in ast.walk(tree) if isinstance(node, ast.For))))
    return (
        f"{setup}\nfor _name in {sorted(_stored(tree) - {*variables})}:\n"
        f"    if _name in {of_loops} or type(globals().get(_name)).__name__ != 'DataFrame':\n"
        "        globals().pop(_name, None)\ndel _name\n"
    )


def _stored(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def text_of(lines: str | Sequence[str]) -> str:
    """A program of the files: a text, or its lines."""
    return lines if isinstance(lines, str) else "\n".join(lines)


def check_of(spec: Mapping[str, Any]) -> Check:
    """Return the judge that a specification describes.

    Raises
    ------
    ValueError
        It has nothing to judge by, or a key that is not known.
    """
    checks = list(_checks(spec))
    if unknown := spec.keys() - {*PARTS, "figure", "digits", "percent", "either_sign"}:
        raise ValueError(f"a check has no {', '.join(sorted(unknown))}")
    if not checks:
        raise ValueError("a check has nothing to judge by")
    return all_of(*checks)


def _checks(spec: Mapping[str, Any]) -> Iterator[Check]:
    options = {name: spec[name] for name in ("digits", "percent", "either_sign") if name in spec}
    for part, make in PARTS.items():
        if part in spec:
            yield from make(spec[part], options)
    if "figure" in spec:
        yield figure(*_figure_judges(spec["figure"]))


def _name(found: str | list[str]) -> str | tuple[str, ...]:
    return found if isinstance(found, str) else tuple(found)


PARTS: dict[str, Callable[[Any, dict[str, Any]], Iterator[Check]]] = {
    "cells": lambda found, options: (cell(*map(_name, names), value=value, **options) for *names, value in found),
    "numbers": lambda found, options: (number(value, **options) for value in found),
    "names": lambda found, _: (says(_name(name)) for name in found),
    "no_names": lambda found, _: iter([says_not(*found)]),
    "order": lambda found, _: iter([in_order(*map(_name, found))]),
    "most_numbers": lambda found, _: iter([at_most_numbers(found)]),
}
"""What a specification may ask of the text, in the order of judging."""


def _figure_judges(spec: Mapping[str, Any]) -> Iterator[Callable[[FigureFacts], str]]:
    if "bars" in spec:
        yield has_bars(spec["bars"])
    if "line" in spec:
        yield has_line(spec["line"])
    if "points" in spec:
        yield has_points(spec["points"])
    yield labelled
