"""What a piece of code says that it would do: its names, of which nothing is looked up."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass

from jupyter_codeagent.notebook.effects.scopes import PARAMETER
from jupyter_codeagent.notebook.effects.visitor import EffectsVisitor

MAX_CODE_CHARS = 30_000
"""More than a person reads; nested branches cost more than their length, and this much at most a few seconds."""
IPYTHON_LINE = re.compile(r"^(\s*)[%!].*$")
CELL_MAGIC = re.compile(r"\s*%%")


@dataclass(frozen=True, kw_only=True)
class CodeEffects:
    """Names at the top level of a piece of code, in the order of their first use."""

    reads: tuple[str, ...] = ()
    """Before the code itself has surely bound them; Python's own are among them."""
    binds: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    """What a name stands for from outside is changed in place."""
    called_on: frozenset[str] = frozenset()
    """Of `changes`: only by calls like ``name.append()``, which is no change where the name is a module."""
    writes: tuple[str, ...] = ()
    """Files, as they are named in the code."""
    unclear: tuple[str, ...] = ()
    """Why more may happen than is listed."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.reads, *self.binds, *self.deletes, *self.changes)))


def code_effects(code: str) -> CodeEffects:
    """Never raises for any text. May take seconds: not on the background loop."""
    if len(code) > MAX_CODE_CHARS:
        return CodeEffects(unclear=(f"the code has more than {MAX_CODE_CHARS:,} characters and was not read",))
    if CELL_MAGIC.match(code):
        return CodeEffects(unclear=("the cell is handed to a cell magic (%%)",))
    reader = EffectsVisitor()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its escapes and its `is 1`: they are not ours to print
            plain, has_magics = _without_ipython_lines(code)
            tree = ast.parse(plain)
        reader.read(tree)
    except (SyntaxError, ValueError) as problem:
        return CodeEffects(unclear=(f"the code cannot be read as Python ({problem})",))
    except (RecursionError, MemoryError):
        return CodeEffects(unclear=("the code is nested too deeply to be read",))
    if has_magics:
        reader.unclear["it has lines for IPython or the shell (% or !)"] = None
    # A lambda's parameter stands for nothing that is known out here.
    changes = {name: called for name, called in reader.changes.items() if not name.startswith(PARAMETER)}
    return CodeEffects(
        reads=tuple(reader.reads),
        binds=tuple(reader.binds),
        deletes=tuple(reader.deletes),
        changes=tuple(changes),
        called_on=frozenset(name for name, called in changes.items() if called),
        writes=tuple(reader.writes),
        unclear=tuple(reader.unclear),
    )


def _without_ipython_lines(code: str) -> tuple[str, bool]:
    """Lines that are magics or shell commands become `pass`, where the rest can be read without them."""
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        lines = code.split("\n")
        plain = [IPYTHON_LINE.sub(r"\1pass", line) for line in lines]
        return "\n".join(plain), plain != lines
    return code, False
