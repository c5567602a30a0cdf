"""How long a pattern or a function takes for hostile text: patterns found in the package, and texts made for each.

Python's regular expressions hold the interpreter's lock while they search; only signals are looked at.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import pkgutil
import random
import re
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined]
from types import FrameType, ModuleType
from typing import Any

import jupyter_codeagent

METHODS = {"search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"}
LIMIT_S = 2.0
"""Of processor time, for one pattern or function on one text: what is linear takes milliseconds."""
STEP = 4
MAX_RATIO = 9.0
"""What takes linear time takes 4 times as long for a text 4 times as long, what is quadratic 16 times as long."""


class TooLongError(Exception):
    """The processor time is used up."""


def _give_up(_number: int, _frame: FrameType | None) -> None:
    raise TooLongError


@contextmanager
def at_most(limit_s: float) -> Iterator[None]:
    """Of the process's own time, whatever else the machine does; patterns look for signals while they search."""
    before = signal.signal(signal.SIGVTALRM, _give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def seconds(run: Callable[[str], object], text: str, limit_s: float = LIMIT_S) -> float:
    """Of processor time; infinite where it had to be ended."""
    started = time.process_time()
    try:
        with at_most(limit_s):
            run(text)
    except TooLongError:
        return float("inf")
    return time.process_time() - started


def grows_too_fast(run: Callable[[str], object], family: Family, chars: int, quick_s: float) -> str:
    """How long it takes for a text and for one four times as long, where that is more than linear; else empty.

    `quick_s` is what a linear one takes at the most for so many characters; what takes longer is looked at closely.
    """
    if seconds(run, family.text(chars)) < quick_s:
        return ""
    for _ in range(3):  # a page fault or a collection of garbage is no growth
        short = _best(run, family.text(STEP * chars))
        if short < 2 * STEP * quick_s:
            return ""
        if short > LIMIT_S / 2:
            return f"{short:.1f} s for {STEP * chars:,} characters"
        long = _best(run, family.text(STEP * STEP * chars))
        if long < MAX_RATIO * short:
            return ""
    return f"{short:.3f} s for {STEP * chars:,} characters, {long:.3f} s for {STEP * STEP * chars:,}"


def _best(run: Callable[[str], object], text: str) -> float:
    return min(seconds(run, text) for _ in range(2))


@dataclasses.dataclass(frozen=True)
class Found:
    """A pattern, where it stands, and the methods that are called of it."""

    where: str
    pattern: re.Pattern[str]
    methods: frozenset[str]


@cache
def modules() -> dict[str, ModuleType]:
    """Import all modules but the one that needs Jupyter AI, which shares no environment with the tests."""
    names = {found.name for found in pkgutil.walk_packages(jupyter_codeagent.__path__, "jupyter_codeagent.")}
    names -= {"jupyter_codeagent.entrypoints.chat_persona.persona"}
    return {name.removeprefix("jupyter_codeagent."): importlib.import_module(name) for name in sorted(names)}


def patterns_in(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    """Also in tuples, mappings and frozen values."""
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif depth < 4 and isinstance(value, tuple | list | set | frozenset | dict):
        items = [*value, *value.values()] if isinstance(value, dict) else value
        for item in items:
            yield from patterns_in(item, depth + 1)
    elif depth < 4 and dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from patterns_in(getattr(value, field.name, None), depth + 1)


def uses(nodes: Sequence[ast.AST]) -> tuple[dict[str, set[str]], set[str]]:
    """Name -> methods called of it; and the names that are handed on."""
    called: dict[str, set[str]] = {}
    owners: set[int] = set()
    names: list[ast.Name] = []
    for node in nodes:
        if isinstance(node, ast.Name):
            names.append(node)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in METHODS:
            called.setdefault(node.value.id, set()).add(node.attr)
            owners.add(id(node.value))
    return called, {node.id for node in names if isinstance(node.ctx, ast.Load) and id(node) not in owners}


def written_in(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, re.Pattern[str], str]]:
    """(line, pattern, method) of ``re.search("…", text)``; what a program puts into a pattern is a word here."""
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=method), args=[first, *_]) if (
                method in METHODS
            ):
                flags = [
                    name for name in ("IGNORECASE", "MULTILINE", "DOTALL") if f"re.{name}" in ast.unparse(node)
                ]
                parts = first.values if isinstance(first, ast.JoinedStr) else [first]
                text = "".join(
                    part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "word"
                    for part in parts
                )
                yield node.lineno, re.compile(text, sum(getattr(re, name) for name in flags)), method


@cache
def found_patterns() -> tuple[Found, ...]:
    found: list[Found] = []
    for name, module in modules().items():
        nodes = [*ast.walk(ast.parse(Path(module.__file__ or "").read_text()))]
        called, handed_on = uses(nodes)
        for variable, value in vars(module).items():
            for at, pattern in enumerate(patterns_in(value)):
                plain = isinstance(value, re.Pattern) and variable not in handed_on
                methods = called.get(variable, set()) if plain else set()
                where = f"{name}.{variable}" + ("" if isinstance(value, re.Pattern) else f"[{at}]")
                found.append(Found(where, pattern, frozenset(methods or METHODS)))
        found += [
            Found(f"{name}:{line}", pattern, frozenset({method})) for line, pattern, method in written_in(nodes)
        ]
    known: dict[tuple[str, int], Found] = {}
    for one in found:  # the same under another name, by an import
        key = (one.pattern.pattern, one.pattern.flags)
        both = known.get(key)
        known[key] = dataclasses.replace(both, methods=both.methods | one.methods) if both is not None else one
    return tuple(known.values())


def operations(pattern: re.Pattern[str], methods: frozenset[str]) -> Iterator[Callable[[str], object]]:
    if methods & {"finditer", "findall", "sub", "subn", "split"}:
        yield lambda text: sum(1 for _ in pattern.finditer(text))
    elif "search" in methods:
        yield pattern.search
    if "match" in methods:
        yield pattern.match
    if "fullmatch" in methods:
        yield pattern.fullmatch


PLAIN = [
    *"aA0 \n\t.,:;'\"()[]{}<>/\\|=+-*#@!?$%&~`_^é\r\b\x1b",
    *("a ", "a,", "0.", "0,", "a\n", "\n\n", " \n", "[]", "()", "''", "\"'", "a.", "a(", "a[", "a=", "a: ", "A a "),
    *("a0", "`a", "# ", "- ", "\\a", "'a", "[a", "</", "<a", "a>", "\x1b[", "…", "\u200b", "a_", "::", "c:"),
]


@dataclasses.dataclass(frozen=True)
class Family:
    """Texts of any length: a beginning, a piece over and over, an end."""

    begin: str
    piece: str
    end: str = ""

    def text(self, chars: int) -> str:
        return self.begin + (self.piece * (chars // len(self.piece) + 1))[:chars] + self.end


def families_of(pattern: re.Pattern[str], count: int) -> list[Family]:
    """Texts that it nearly matches over and over, made of its own parts; always the same ones."""
    chance = random.Random(repr(pattern.pattern))
    whole = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    repeated = list(repetitions(list(whole)))
    found = {Family("", piece) for piece in PLAIN}
    for _ in range(count):
        word = sample(whole, chance)
        cut = chance.randrange(len(word) + 1)
        found |= {
            Family("", word),
            Family("", word[:-1]),
            Family(word[:cut], word[cut:], "\0"),
            Family("", word[:cut]),
        }
        for before, inner in chance.sample(repeated, min(len(repeated), 6)):
            begin, piece = sample(before, chance), sample(inner, chance)
            other = sample(chance.choice(repeated)[1], chance)
            found |= {Family(begin, piece, end) for end in ("", "\0", "\n!")}
            found |= {Family("", begin + piece), Family("", begin), Family(begin, piece + other, "\0")}
    return sorted(
        (one for one in found if one.piece), key=lambda one: (len(one.piece), one.piece, one.begin, one.end)
    )


def repetitions(items: list[Any]) -> Iterator[tuple[list[Any], Any]]:
    """(what stands before, what is repeated), at any depth."""
    for at, (kind, value) in enumerate(items):
        for inner in parts(str(kind), value):
            if "REPEAT" in str(kind):
                yield items[:at], inner
            for before, repeated in repetitions(list(inner)):
                yield [*items[:at], *before], repeated


def parts(kind: str, value: Any) -> list[Any]:
    if "REPEAT" in kind:
        return [value[2]]
    if kind == "SUBPATTERN":
        return [value[3]]
    if kind == "BRANCH":
        return list(value[1])
    if kind == "ATOMIC_GROUP":
        return [value]
    return [value[1]] if kind in ("ASSERT", "ASSERT_NOT") else []


def sample(items: Any, chance: random.Random) -> str:
    """A text that they match, or nearly."""
    return "".join(_sample(str(kind), value, chance) for kind, value in items)


def _sample(kind: str, value: Any, chance: random.Random) -> str:
    if kind == "LITERAL":
        return chr(value)
    if kind in ("IN", "NOT_LITERAL", "ANY"):
        return _letter(kind, value, chance)
    if "REPEAT" in kind:
        low, high, inner = value
        times = min(max(low, chance.choice([low, low + 1, 2])), int(high), 12)
        return "".join(sample(inner, chance) for _ in range(times))
    if kind == "BRANCH":
        return sample(chance.choice(value[1]), chance)
    if kind == "GROUPREF":
        return "'"
    return sample(parts(kind, value)[0], chance) if kind in ("SUBPATTERN", "ATOMIC_GROUP") else ""


LETTERS = "aAbz0 7_.,:;'\"()[]{}<>/\\|=+-*#@!?$%&~`^\n\té\x1b\u4e00"


@cache
def _class(kind: str, value: Any) -> str:
    """Letters of a class that differ in what else they are."""
    if kind == "ANY":
        return "a0 .:[]'"
    if kind == "NOT_LITERAL":
        return "".join(letter for letter in LETTERS if ord(letter) != value)
    listed = [chr(one) for op, one in value if str(op) == "LITERAL"]
    listed += [chr(end) for op, one in value if str(op) == "RANGE" for end in one]
    names = {"CATEGORY_WORD": r"\w", "CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s"}
    names |= {name.replace("_", "_NOT_", 1): shown.upper() for name, shown in names.items()}
    kinds = "".join(names[str(one)] for op, one in value if str(op) == "CATEGORY")
    is_not = any(str(op) == "NEGATE" for op, _ in value)
    inside = {letter for letter in LETTERS if letter in listed or (kinds and re.match(f"[{kinds}]", letter))}
    inside |= {
        letter for op, one in value if str(op) == "RANGE" for letter in LETTERS if one[0] <= ord(letter) <= one[1]
    }
    return "".join(letter for letter in LETTERS if letter not in inside) if is_not else "".join([*inside, *listed])


def _letter(kind: str, value: Any, chance: random.Random) -> str:
    letters = sorted(_class(kind, tuple(value) if kind == "IN" else value))
    return chance.choice(letters) if letters else "a"
