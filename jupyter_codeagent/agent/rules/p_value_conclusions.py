"""What follows from a p value, where a program names the statistic so, never says it, or turns it round.

Small models know the words and mix up their sides. Corrected before the code runs; the words are those that the
prompt puts in quotes.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Collection, Iterator

from jupyter_codeagent.agent.rules.p_value_claims import (
    NORMAL_WORDS,
    Claim,
    Test,
    claims_of,
    stored_names,
    tests_of,
)
from jupyter_codeagent.agent.rules.rule import Program, from_edits
from jupyter_codeagent.agent.source import Edit, before_on_its_line, bound_names, span, text_of, used_names

_FLIPPED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_QUOTED = re.compile(r"[\"'“‘]([^\"'“”‘’\n]{2,40})[\"'”’]")
_YES_OR_NO = re.compile(r"\b(yes)\b\W{1,5}(?:or\W{1,3})?\b(no)\b", re.IGNORECASE)
_LEVEL = re.compile(
    r"\b(?:alpha|levels?|significance|p.?values?)\b[^\d\n]{0,40}(0\.(?:0[15]|1|001|10))(?!\d)", re.IGNORECASE
)
ALPHA = "0.05"


@from_edits
def turn_conclusion(program: Program) -> Iterator[tuple[Edit, str]]:
    """Turn the comparison of ``"normal" if p < 0.05 else "not normal"``."""
    tree, code = program.tree, program.code
    by_p_value = {test.p_value: test for test in tests_of(tree, code)}
    seen: set[int] = set()
    for comparison, true, false in claims_of(tree):
        match comparison:
            case ast.Compare(left=left, ops=[_], comparators=[ast.Constant() | ast.Name() as level]):
                tested = by_p_value.get(_dotted(left))
            case _:
                continue
        small = tested.is_small(true) if tested is not None else None
        if tested is None or small is None or (false is not None and tested.is_small(false) != (not small)):
            continue
        start, end = span(code, left)[1], span(code, level)[0]
        sign = code[start:end].strip()
        if sign in _FLIPPED and start not in seen and small != sign.startswith("<"):
            seen.add(start)
            said = f"{true.text!r} is {tested.p_value} {_FLIPPED[sign]} {text_of(code, level)}"
            denied = f"not {said}" if true.is_denied else said
            yield Edit(start=start, end=end, text=f" {_FLIPPED[sign]} "), f"{denied} after {tested.name}"


@from_edits
def add_conclusion(program: Program) -> Iterator[tuple[Edit, str]]:
    """Write the conclusion behind the test: for ``is_normal, p = shapiro(x)``, or a name that nothing binds."""
    tree, code, prompt = program.tree, program.code, program.prompt
    tests = tests_of(tree, code)
    used, bound = used_names(tree), bound_names(tree)
    stored = Counter(node.id for node in stored_names(tree))
    shown = _displayed_names(tree)
    numbers = _used_as_numbers(tree)
    for tested in tests:
        if before_on_its_line(code, tested.statement).strip():
            continue
        match tested.statement.targets:
            case [ast.Tuple(elts=[ast.Name(id=name) as first, ast.Name()])] if (
                name in used - numbers and stored[name] == 1 and name.lower() not in NORMAL_WORDS
            ):
                if conclusion := _conclusion(tree, tested, name, prompt, is_shown=name in shown):
                    start, end = span(code, first)
                    yield Edit(start=start, end=end, text=_unused("statistic", used | bound)), ""
                    note = f"the statistic is not the conclusion: {name} = {conclusion}"
                    yield _behind(code, tested, f"{name} = {conclusion}"), note
    if len(tests) != 1 or "*" in bound or before_on_its_line(code, tests[0].statement).strip():
        return
    for name in sorted(used - bound - {*program.defined, *program.copied} - set(dir(builtins)) - numbers):
        if conclusion := _conclusion(tree, tests[0], name, prompt, is_shown=name in shown):
            yield _behind(code, tests[0], f"{name} = {conclusion}"), f"added: {name} = {conclusion}"


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return f"{owner}.{name}"
    return ""


def _displayed_names(tree: ast.Module) -> set[str]:
    """Names of which every use shows them: a word that is used as a condition would always be true."""
    shown: Counter[str] = Counter()
    for node in ast.walk(tree):
        match node:
            case ast.FormattedValue(value=ast.Name(id=name)) | ast.Expr(value=ast.Name(id=name)):
                shown[name] += 1
            case ast.Call(func=ast.Name(id="print" | "display"), args=arguments):
                shown.update(value.id for value in arguments if isinstance(value, ast.Name))
    loads = Counter(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )
    return {name for name, count in shown.items() if count == loads[name]}


def _used_as_numbers(tree: ast.Module) -> set[str]:
    """Names that are formatted, called, or given to a function other than `print`: no conclusions."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FormattedValue(value=ast.Name(id=name), format_spec=ast.JoinedStr()):
                found.add(name)
            case ast.Call(func=function, args=arguments):
                named = function.id if isinstance(function, ast.Name) else ""
                values = [function] if named in ("print", "display") else [function, *arguments]
                found.update(value.id for value in values if isinstance(value, ast.Name))
            case ast.BinOp(left=left, right=right):
                found.update(value.id for value in (left, right) if isinstance(value, ast.Name))
    return found


def _behind(code: str, tested: Test, line: str) -> Edit:
    end = span(code, tested.statement)[1]
    return Edit(start=end, end=end, text=f"\n{before_on_its_line(code, tested.statement)}{line}")


def _unused(name: str, taken: Collection[str]) -> str:
    return name if name not in taken else f"test_{name}"


def _conclusion(tree: ast.Module, tested: Test, name: str, prompt: str, *, is_shown: bool) -> str:
    """Return the expression of a conclusion of this name; empty where none follows from the test."""
    small = tested.is_small(Claim(text=name))
    if small is None:
        return ""
    levels = set(_LEVEL.findall(prompt))
    before = (node for node in tree.body if isinstance(node, ast.Assign) and node.lineno < tested.statement.lineno)
    named = any(isinstance(target, ast.Name) and target.id == "alpha" for node in before for target in node.targets)
    level = "alpha" if named else levels.pop() if len(levels) == 1 else ALPHA
    if not is_shown or (words := _words(tested, small, prompt)) is None:
        return f"{tested.p_value} {'<' if small else '>='} {level}"
    return f"{words[0]!r} if {tested.p_value} < {level} else {words[1]!r}"


def _words(tested: Test, small: bool, prompt: str) -> tuple[str, str] | None:
    """Return the prompt's words for a small p value, and for any other; None if it has none."""
    quoted = list(dict.fromkeys(_QUOTED.findall(prompt)))
    claims = {word: tested.is_small(Claim(text=word)) for word in quoted if "_" not in word}
    against = [word for word, claim in claims.items() if claim is True]
    agreeing = [word for word, claim in claims.items() if claim is False]
    if len(against) == 1 and len(agreeing) == 1:
        return against[0], agreeing[0]
    pair = _YES_OR_NO.search(prompt)
    yes = next((word for word in quoted if word.lower() == "yes"), pair.group(1) if pair else "")
    no = next((word for word in quoted if word.lower() == "no"), pair.group(2) if pair else "")
    if not yes or not no:
        return None
    return (yes, no) if small else (no, yes)
