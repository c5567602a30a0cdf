"""Effects of code by its text alone, without a namespace."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field

from jupyter_codeagent.notebook.effects.scopes import PARAMETER
from jupyter_codeagent.notebook.effects.visitor import EffectsVisitor, InPlace
from jupyter_codeagent.types.syntax_trees import module_tree

MAX_CODE_CHARS = 30_000
"""More than a person reads. Nested branches take more than linear time; this length takes a few seconds at most."""
IPYTHON_LINE = re.compile(r"^(\s*)[%!].*$")
CELL_MAGIC = re.compile(r"\s*%%")


@dataclass(frozen=True, kw_only=True)
class CodeEffects:
    """Names at the top level of a piece of code, in the order of their first use."""

    reads: tuple[str, ...] = ()
    """Names read before the code has certainly bound them, builtins included."""
    binds: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    in_place: Mapping[str, frozenset[InPlace]] = field(default_factory=dict)
    """Names whose existing value is changed in place -> how."""
    writes: tuple[str, ...] = ()
    """Files that are written or removed, as the code names them."""
    unclear: tuple[str, ...] = ()
    """Reasons why more may happen than is listed."""

    @property
    def changes(self) -> tuple[str, ...]:
        """Names whose existing value is changed in place."""
        return tuple(name for name, ways in self.in_place.items() if any(way.method != "+=" for way in ways))

    @property
    def called_on(self) -> frozenset[str]:
        """Those of `changes` changed only by calls like ``name.append()``: of a module they change nothing."""
        return frozenset(
            name for name, ways in self.in_place.items() if all(way.method and not way.inside for way in ways)
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.reads, *self.binds, *self.deletes, *self.changes)))


def code_effects(code: str) -> CodeEffects:
    """Analyse code; never raises. May take seconds, so it must not run on the background loop."""
    if len(code) > MAX_CODE_CHARS:
        return CodeEffects(unclear=(f"the code has more than {MAX_CODE_CHARS:,} characters and was not read",))
    if CELL_MAGIC.match(code):
        return CodeEffects(unclear=("the cell is handed to a cell magic (%%)",))
    reader = EffectsVisitor()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes and `is 1` in the code
            plain, has_magics = _without_ipython_lines(code)
            tree = module_tree(plain)
        reader.read(tree)
    except (SyntaxError, ValueError) as problem:
        return CodeEffects(unclear=(f"the code cannot be read as Python ({problem})",))
    except (RecursionError, MemoryError):
        return CodeEffects(unclear=("the code is nested too deeply to be read",))
    if has_magics:
        reader.unclear["it has lines for IPython or the shell (% or !)"] = None
    # The parameters of a lambda are unknown outside of it.
    in_place = {name: frozenset(ways) for name, ways in reader.changes.items() if not name.startswith(PARAMETER)}
    return CodeEffects(
        reads=tuple(reader.reads),
        binds=tuple(reader.binds),
        deletes=tuple(reader.deletes),
        in_place=in_place,
        writes=tuple(reader.writes),
        unclear=tuple(reader.unclear),
    )


def _without_ipython_lines(code: str) -> tuple[str, bool]:
    """Replace magics and shell commands by `pass` if the code is not plain Python; true if there were any."""
    try:
        module_tree(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        lines = code.split("\n")
        plain = [IPYTHON_LINE.sub(r"\1pass", line) for line in lines]
        return "\n".join(plain), plain != lines
    return code, False
