"""Extraction of code, measured on stored replies: `python -m evals.suites.ds1000 FOLDER [--run | --rules]`.

FOLDER holds replies of models to DS-1000 (CC-BY-SA-4.0, not part of this project): `<model>-answers.jsonl`, and for
what is read of its problems `ds1000.jsonl.gz`.

An extraction is *valid* if the text that came out parses as Python and holds a statement. That alone could be had
by leaving out whatever is in the way, so two more figures stand beside it: replies and sentences without code must
give none, and with `--run` the code must pass the problems' own tests (`evals/suites/ds1000_run.py`).
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_codeagent.agent.reply.extract import Form, extract_code
from jupyter_codeagent.agent.source import parse

REPLIES = "-answers.jsonl"
PROBLEMS = "ds1000.jsonl.gz"
CUT_OFF_LINES = 3
"""A reply that parses without at most so many of its last lines ended in the middle of a statement."""

_MARKUP = re.compile(r"^\s*(?:`{3,}\w*|</?\w+>|#.*|(?:BEGIN|END) SOLUTION)\s*$", re.MULTILINE | re.IGNORECASE)
_CODE = re.compile(r"[\w\])]\s*[-+*/%&|^]{0,2}=[^=]|\w[(\[]|^\s*(?:import|from|return|del)\s", re.MULTILINE)
_SENTENCES = re.compile(r"[A-Z][\w']*,?(?: [\w',-]+){4,}.*[.?!:]")


@dataclass(frozen=True, kw_only=True)
class Reply:
    model: str
    library: str
    id: int
    """Of the problem."""
    text: str


@dataclass(frozen=True, kw_only=True)
class ReplyScore:
    """What extraction made of one reply."""

    model: str
    library: str
    id: int
    form: Form
    """Where the code was; empty if none was found."""
    is_valid: bool
    """What came out parses as Python and holds a statement."""
    has_code: bool
    """Something in the reply looks like code to a search that knows nothing of the extraction."""
    problem: str
    """Why there is no code, as the model would be told; empty if there is some."""
    fault: str
    """Of a reply that has code but gave none: ``cut off`` or ``no Python``; empty otherwise."""


def measure(folder: Path) -> list[ReplyScore]:
    """One score for each stored reply."""
    return [score(reply) for reply in read_replies(folder)]


def score(reply: Reply) -> ReplyScore:
    found = extract_code(reply.text)
    tree = parse(found.code)
    is_valid = tree is not None and bool(tree.body)
    has_code = _has_code(reply.text)
    return ReplyScore(
        model=reply.model,
        library=reply.library,
        id=reply.id,
        form=found.form,
        is_valid=is_valid,
        has_code=has_code,
        problem=found.problem,
        fault=_fault(reply.text) if has_code and not is_valid else "",
    )


def measure_prose(folder: Path) -> tuple[int, list[str]]:
    """How many one-line paragraphs of the problems are sentences, and those of them that were taken for code."""
    paragraphs = {
        paragraph.strip() for problem in read_problems(folder) for paragraph in problem["prompt"].split("\n\n")
    }
    sentences = sorted(
        paragraph for paragraph in paragraphs if "\n" not in paragraph and _SENTENCES.fullmatch(paragraph)
    )
    return len(sentences), [sentence for sentence in sentences if extract_code(sentence).code]


def read_replies(folder: Path) -> Iterator[Reply]:
    files = sorted(folder.glob(f"*{REPLIES}"))
    if not files:
        raise FileNotFoundError(f"{folder} holds no replies: no file is named <model>{REPLIES}")
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            code = row["code"]
            yield Reply(
                model=file.name.removesuffix(REPLIES),
                library=row["metadata"]["library"],
                id=row["metadata"]["problem_id"],
                text=code if isinstance(code, str) else code[0],  # a list holds the samples of one question
            )


def read_problems(folder: Path) -> list[dict[str, Any]]:
    """Of each problem, among others: `prompt`, `reference_code`, `code_context` (a program with its tests)."""
    with gzip.open(folder / PROBLEMS, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _has_code(text: str) -> bool:
    return _CODE.search(_MARKUP.sub("", text)) is not None


def _fault(text: str) -> str:
    lines = _MARKUP.sub("", text).rstrip().split("\n")
    shorter = (parse("\n".join(lines[:-count])) for count in range(1, CUT_OFF_LINES + 1))
    return "cut off" if any(tree is not None and tree.body for tree in shorter) else "no Python"


def table(scores: Sequence[ReplyScore]) -> str:
    """By model: valid of those with code, none of those without; then valid by library, then the failures."""
    models = sorted({one.model for one in scores})
    libraries = sorted({one.library for one in scores})
    forms = ("fence", "tag", "json", "text", "part")
    lines = [_row("model", ["with code", "valid", "%", "without", "no code", *forms])]
    for model in [*models, ""]:
        of_model = [one for one in scores if model in ("", one.model)]
        coded, bare = ([one for one in of_model if one.has_code is has_code] for has_code in (True, False))
        valid, none = _valid_count(coded), len(bare) - _valid_count(bare)
        counts = [sum(one.form == form for one in of_model) for form in forms]
        lines.append(
            _row(model or "all", [len(coded), valid, _percent(valid, len(coded)), len(bare), none, *counts])
        )
    lines += ["", _row("valid % of those with code", libraries)]
    for model in models:
        cells = [[one for one in scores if (one.model, one.library) == (model, library)] for library in libraries]
        coded_cells = [[one for one in cell if one.has_code] for cell in cells]
        lines.append(_row(model, [_percent(_valid_count(cell), len(cell)) for cell in coded_cells]))
    wrong = [one for one in scores if one.has_code is not one.is_valid]
    return "\n".join([*lines, "", *(_failure(one) for one in wrong)])


def _failure(one: ReplyScore) -> str:
    return (
        f"{one.model} {one.library} {one.id}: {one.fault or 'code where there is none'}: {one.problem or one.form}"
    )


def _valid_count(scores: Iterable[ReplyScore]) -> int:
    return sum(one.is_valid for one in scores)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def _row(name: str, cells: Iterable[object]) -> str:
    return f"{name:<28}" + "".join(f"{cell!s:>11}" for cell in cells)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.suites.ds1000", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--run", action="store_true", help="also run the code and the problems' tests in the sandbox"
    )
    parser.add_argument("--rules", action="store_true", help="only: what the rules before a run change in them")
    arguments = parser.parse_args()
    if arguments.rules:
        from evals.suites.ds1000_rules import rules_text

        print(rules_text(arguments.folder))
        return
    print(table(measure(arguments.folder)))
    if (arguments.folder / PROBLEMS).exists():
        count, taken = measure_prose(arguments.folder)
        print(f"\nof {count} paragraphs of sentences {len(taken)} were taken for code", *taken, sep="\n  ")
    if arguments.run:
        from evals.suites.ds1000_run import pass_table, run_tests

        print()
        print(pass_table(asyncio.run(run_tests(arguments.folder))))


if __name__ == "__main__":
    main()
