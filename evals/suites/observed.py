"""Reference programs with and without being observed: `python -m evals.suites.observed [FOLDER]`.

Those of our own tasks, and with FOLDER those of DS-1000's pandas part (`evals.suites.ds1000`). A program counts as
the same if its output, its error and the values of all variables that it leaves are.
"""

from __future__ import annotations

import argparse
import io
import re
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from IPython.core.interactiveshell import InteractiveShell
from tqdm import tqdm

from evals.suites.ds1000 import read_problems
from evals.suites.own import own_tasks
from jupyter_codeagent.sandbox.guest.observation.observer import Observer

_ADDRESS = re.compile(r"0x[0-9a-f]+")


@dataclass(frozen=True, kw_only=True)
class Reference:
    """One program, and what makes its variables."""

    name: str
    setup: str
    code: str


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What came of a program that ran in both ways."""

    name: str
    is_same: bool
    operations: int
    problem: str


def own_references() -> Iterator[Reference]:
    """Yield the programs of our own tasks; a later turn has the earlier programs of its task before it."""
    for task in own_tasks():
        before = task.setup
        for number, turn in enumerate(task.turns, start=1):
            code = textwrap.dedent(turn.reference)
            yield Reference(name=f"{task.id} {number}", setup=before, code=code)
            before = f"{before}\n{code}"


def ds1000_references(folder: Path) -> Iterator[Reference]:
    """Yield the programs of DS-1000's pandas part with their first test's variables."""
    for problem in read_problems(folder):
        if problem["metadata"]["library"] != "Pandas":
            continue
        context = problem["code_context"]
        name = f"ds1000 {problem['metadata']['problem_id']}"
        setup = f"exec({context!r})\ntest_input, _ = generate_test_case(1)\n"
        code = _inserted(context, problem["reference_code"])
        yield Reference(name=name, setup=setup, code=code)


def _inserted(context: str, solution: str) -> str:
    """Return the program of a problem with its solution; what loads the variables is part of it."""
    program = context.partition('exec_context = r"""')[2].partition('"""')[0]
    return program.replace("[insert]", solution)


def observe(reference: Reference) -> Observed:
    """Run a program without and with hooks, and compare all that it leaves."""
    shown, values, _ = _run(reference, observed=False)
    shown_too, values_too, report = _run(reference, observed=True)
    are_same = [_same_value(value, values_too.get(name)) for name, value in values.items()]
    return Observed(
        name=reference.name,
        is_same=shown == shown_too and values.keys() == values_too.keys() and all(are_same),
        operations=len(report.get("operations", ())),
        problem=report.get("not_observed", ""),
    )


def _run(reference: Reference, *, observed: bool) -> tuple[list[str], dict[str, Any], dict[str, Any]]:
    shell = InteractiveShell(history_load_length=0)
    text = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(text):
        warnings.simplefilter("ignore")
        np.random.seed(0)
        shell.run_cell(reference.setup)
        text.truncate(0)
        observer = Observer(shell) if observed else None
        outcome = shell.run_cell(reference.code)
    report = observer.report() if observer is not None else {}
    if observer is not None:
        observer.close()
    error = outcome.error_in_exec or outcome.error_before_exec
    hidden = {"In", "Out", *shell.user_ns_hidden}
    values = {name: value for name, value in shell.user_ns.items() if name[0] != "_" and name not in hidden}
    shown = [_ADDRESS.sub("0x", one) for one in (text.getvalue(), repr(error), repr(outcome.result))]
    return shown, values, report


def _same_value(left: Any, right: Any) -> bool:
    """Check whether two values are the same; of two pictures and the like whether their types are."""
    if type(left) is not type(right):
        return False
    if hasattr(left, "equals"):
        return bool(left.equals(right)) and str(getattr(left, "dtypes", "")) == str(getattr(right, "dtypes", ""))
    if isinstance(left, np.ndarray):
        return left.tobytes() == right.tobytes() if left.dtype != object else repr(left) == repr(right)
    if isinstance(left, bool | int | float | str | bytes | list | tuple | dict | set):
        return _ADDRESS.sub("0x", repr(left)) == _ADDRESS.sub("0x", repr(right))
    return True


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.suites.observed", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="of DS-1000")
    parser.add_argument("--only", default="", help="a regular expression for names of programs")
    options = parser.parse_args()
    references = [*own_references(), *(ds1000_references(options.folder) if options.folder else ())]
    references = [one for one in references if re.search(options.only, one.name)]
    found = [observe(reference) for reference in tqdm(references, unit="program")]
    for name, part in (
        ("own tasks", [one for one in found if not one.name.startswith("ds1000")]),
        ("DS-1000, pandas", [one for one in found if one.name.startswith("ds1000")]),
    ):
        same, counted = sum(one.is_same for one in part), sum(one.operations > 0 for one in part)
        print(f"{name}: {same} of {len(part)} the same, {counted} with operations")
    for one in found:
        if not one.is_same or one.problem:
            print(f"{one.name}: {'the same' if one.is_same else 'DIFFERS'} {one.problem}")


if __name__ == "__main__":
    main()
