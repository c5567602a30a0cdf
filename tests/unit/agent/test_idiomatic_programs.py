"""No rule changes the result of a right, idiomatic program of a strong model, or takes it for a wrong one.

The programs are in `idiomatic_programs/`: ``# %% question``, and the program that answers it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from idiomatic_tables import make_tables
from IPython.core.formatters import PlainTextFormatter
from matplotlib.figure import Figure

from jupyter_codeagent.agent.rules import registry
from jupyter_codeagent.agent.rules.rule import Program
from jupyter_codeagent.sandbox.guest.namespace import describe_namespace
from jupyter_codeagent.types.sandbox import DisplayOutput, ExecutionResult, NamespaceEntry, StreamOutput
from jupyter_codeagent.types.variables import LiveNames

SECTION = re.compile(r"^# %% ", re.MULTILINE)
TABLES = make_tables()
TYPES = {
    name: "DataFrame" if isinstance(table, pd.DataFrame) else "polars.DataFrame" for name, table in TABLES.items()
}


def read_programs() -> dict[str, str]:
    """Return question -> program."""
    files = sorted(Path(__file__).with_name("idiomatic_programs").glob("*.txt"))
    sections = [section for file in files for section in SECTION.split(file.read_text(encoding="utf-8"))[1:]]
    return {question: program.strip() for question, _, program in (one.partition("\n") for one in sections)}


PROGRAMS = read_programs()


@pytest.fixture(autouse=True)
def _no_figures() -> Iterator[None]:
    plt.switch_backend("Agg")
    yield
    plt.close("all")


@dataclass
class Cell:
    """What one program shows, as the sandbox would have it."""

    outputs: list[StreamOutput | DisplayOutput] = field(default_factory=list)
    drawn: list[object] = field(default_factory=list)
    """Titles, lines, bars, points and texts of each figure."""
    names: dict[str, Any] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()

    def run(self, code: str, variables: Mapping[str, Any]) -> None:
        """Run the code as a cell in which these names are bound."""
        self.names = {"__name__": "__main__", "display": self.display, **variables}
        self.hidden = frozenset({"__name__", "display"})
        tree = ast.parse(code)
        last = tree.body[-1]
        if isinstance(last, ast.Expr):
            tree.body.pop()
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(Stdout(self)):
            patch.setattr(plt, "show", self.show)
            exec(compile(tree, "<cell>", "exec", dont_inherit=True), self.names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "<cell>", "eval", dont_inherit=True), self.names)
                if value is not None and not code.endswith(";"):
                    self.display(value)
            self.show()

    def display(self, *values: object) -> None:
        """Display values as text, figures as pictures."""
        for value in values:
            data = {"image/png": ""} if isinstance(value, Figure) else {"text/plain": PlainTextFormatter()(value)}
            self.outputs.append(DisplayOutput(output_type="display_data", data=data, metadata={}))

    def show(self) -> None:
        """Show the open figures."""
        for number in plt.get_fignums():
            self.drawn.append(drawn_in(plt.figure(number)))
            self.outputs.append(DisplayOutput(output_type="display_data", data={"image/png": ""}, metadata={}))
        plt.close("all")

    @property
    def result(self) -> ExecutionResult:
        """The result of the execution."""
        entries = describe_namespace(self.names, hidden=self.hidden)
        namespace = (NamespaceEntry(**{name: frozen(value) for name, value in one.items()}) for one in entries)
        return ExecutionResult(status="ok", outputs=tuple(self.outputs), namespace=tuple(namespace))

    @property
    def shown(self) -> list[str]:
        """What it printed and displayed, without the addresses of what it drew."""
        texts = [
            one["text"] if one["output_type"] == "stream" else one["data"].get("text/plain", "a figure")
            for one in self.outputs
        ]
        return [text for text in texts if not re.search(r" at 0x|^<matplotlib|^\[<matplotlib", text)]


class Stdout(io.StringIO):
    """Text that is printed becomes outputs of a cell."""

    def __init__(self, cell: Cell) -> None:
        super().__init__()
        self.cell = cell

    def write(self, text: str) -> int:
        last = self.cell.outputs[-1] if self.cell.outputs else None
        if last is not None and last["output_type"] == "stream":
            last["text"] += text
        else:
            self.cell.outputs.append(StreamOutput(output_type="stream", name="stdout", text=text))
        return len(text)


def frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def drawn_in(figure: Any) -> list[object]:
    """Return what the axes of a figure hold."""
    return [
        (
            ax.get_title(),
            ax.get_xlabel(),
            ax.get_ylabel(),
            [np.asarray(line.get_xydata(), dtype=float).tolist() for line in ax.lines],
            [
                patch.get_path().vertices.tolist() + list(patch.get_transform().frozen().get_matrix().ravel())
                for patch in ax.patches
            ],
            [np.asarray(points.get_offsets(), dtype=float).tolist() for points in ax.collections],
            [text.get_text() for text in ax.texts],
        )
        for ax in figure.axes
    ]


def ran(code: str, tables: Mapping[str, Any], **names: Any) -> Cell:
    """Run a program."""
    cell = Cell()
    cell.run(code, {**tables, **names})
    return cell


def program_of(question: str, code: str, result: ExecutionResult | None = None) -> Program:
    """Return a program as the loop gives it to the rules."""
    columns = {name: tuple(table.columns) for name, table in TABLES.items()}
    live = LiveNames(
        data=TYPES,
        columns=frozenset(label for labels in columns.values() for label in labels),
        taken=frozenset(TABLES),
    )
    return Program(
        code=code,
        prompt=question,
        copied=tuple(TABLES),
        defined=tuple(TABLES),
        live=live,
        result=result,
    )


def copies() -> dict[str, Any]:
    """Return the tables as a sandbox has them."""
    return {
        name: table.copy() if isinstance(table, pd.DataFrame) else table.clone() for name, table in TABLES.items()
    }


def test_there_are_a_hundred_long_programs() -> None:
    assert len(PROGRAMS) >= 100
    assert not [question for question, code in PROGRAMS.items() if not 12 <= len(code.splitlines()) <= 40]


@pytest.mark.parametrize("question", PROGRAMS)
def test_a_right_program_keeps_its_result(question: str) -> None:
    written, tables = PROGRAMS[question], copies()
    fix = registry.correct(program_of(question, written))
    corrected = ran(fix.code, tables)
    if ast.dump(ast.parse(fix.code)) != ast.dump(ast.parse(written)):
        as_written = ran(written, copies(), pd=pd, np=np)
        assert corrected.shown == as_written.shown, fix
        assert corrected.drawn == as_written.drawn, fix
    assert all(table.equals(TABLES[name]) for name, table in tables.items()), fix
    asked = program_of(question, fix.code, corrected.result)
    assert registry.find_issue(asked) is None
    assert registry.correct_result(asked) is None
