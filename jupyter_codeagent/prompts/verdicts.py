"""What follows from a p value, where a program names the statistic so, never says it, or turns it round.

The test says what its null hypothesis is: a small p value speaks against *normal* after a test of normality, and
for *significant*, *different* and *rejected* after any. Small models know the words and mix up their sides.
Corrected before the code runs; the words are those that the prompt puts in quotes.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from jupyter_codeagent.prompts.source import (
    Edit,
    apply_edits,
    bound_names,
    called_name,
    parse,
    span,
    text_of,
    used_names,
)
from jupyter_codeagent.prompts.statistics import TESTS

_NORMALITY = frozenset({"shapiro", "normaltest", "jarque_bera"})
_FLIPPED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_NORMAL = re.compile(r"normal(?!i[sz])|gauss", re.IGNORECASE)
_DIFFERENT = re.compile(r"signific|differ|reject", re.IGNORECASE)
_NEGATED = re.compile(
    r"(?<![a-z])(?:not?|non|never|fail\w*|cannot|abnormal)(?![a-z])|n['’]t\b|insignific", re.IGNORECASE
)
_VERDICT = re.compile(
    r"(?:is|are|has)(?:_|(?-i:[A-Z]))|reject\w*$|significan(?:t|ce)(?:_(?:or_not|result|difference|status))?$"
    r"|(?!\w*(?:stat|score|value|coef|ratio|level|data|column))\w*normal",
    re.IGNORECASE,
)
"""Names; not of a statistic, and not ``difference``, which is a figure."""
_QUOTED = re.compile(r"[\"'“‘]([^\"'“”‘’\n]{2,40})[\"'”’]")
_YES_OR_NO = re.compile(r"\b(yes)\b\W{1,5}(?:or\W{1,3})?\b(no)\b", re.IGNORECASE)
_LEVEL = re.compile(r"(?<![\d.])0\.(?:0[15]|1|001|10)(?!\d)")
_LABEL = re.compile(r"(\w+)\W*$")
_ANSWERS = {"yes": True, "true": True, "no": False, "false": False}
ALPHA = "0.05"
MAX_CLAIM_CHARS = 80


@dataclass(frozen=True, kw_only=True)
class _Tested:
    """One test of a program."""

    statement: ast.Assign
    name: str
    p_value: str
    """As the program writes it: ``p``, ``result.pvalue``."""

    def is_small(self, text: str) -> bool | None:
        """Whether `text` holds where the p value is small; None where that does not follow from this test."""
        if len(text) > MAX_CLAIM_CHARS:
            return None
        normal, different = _NORMAL.search(text), _DIFFERENT.search(text)
        negated = _NEGATED.search(text) is not None
        if normal and not different:
            return negated if self.name in _NORMALITY else None
        return not negated if different and not normal else None


MAX_TESTS = 20
"""Of a program that is looked at; one with more of them is no answer to a question."""


def say_verdicts(code: str, prompt: str, defined: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """The code with the verdicts that follow from its tests, and a note for each correction."""
    notes: list[str] = []
    for correct in (_turned_round, _never_said):
        tree = parse(code)
        tests = list(_tests(tree, code)) if tree is not None else []
        if tree is None or not 0 < len(tests) <= MAX_TESTS:
            break
        found = list(correct(tree, code, prompt, tests, defined))
        code = apply_edits(code, [edit for edit, _ in found])
        notes += [note for _, note in found if note]
    return code, tuple(dict.fromkeys(notes))


def _tests(tree: ast.Module, code: str) -> Iterator[_Tested]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(), ast.Name(id=p)])], value=ast.Call() as call):
                pass
            case (
                ast.Assign(targets=[ast.Name(id=p)], value=ast.Attribute(value=ast.Call() as call, attr="pvalue"))
                | ast.Assign(
                    targets=[ast.Name(id=p)],
                    value=ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=1)),
                )
            ):
                pass
            case ast.Assign(targets=[ast.Name(id=result)], value=ast.Call() as call):
                p = f"{result}.pvalue"
            case _:
                continue
        if (name := called_name(call)[1]) in TESTS:
            is_normality = name in ("kstest", "ks_1samp") and "norm" in text_of(code, call)
            yield _Tested(statement=node, name="normaltest" if is_normality else name, p_value=p)


def _turned_round(
    tree: ast.Module, code: str, _prompt: str, tests: list[_Tested], _defined: Collection[str]
) -> Iterator[tuple[Edit, str]]:
    """``"normal" if p < 0.05 else "not normal"``: the comparison is turned."""
    seen: set[int] = set()
    for comparison, true, false in _claims(tree):
        match comparison:
            case ast.Compare(left=left, ops=[_], comparators=[ast.Constant() | ast.Name() as level]):
                start, end = span(code, left)[1], span(code, level)[0]
            case _:
                continue
        sign, p_value = code[start:end].strip(), text_of(code, left)
        tested = [test for test in tests if test.p_value == p_value]
        if len(tested) != 1 or sign not in _FLIPPED or start in seen:
            continue
        small, otherwise = tested[0].is_small(true), tested[0].is_small(false) if false else None
        if small is None or (false and otherwise != (not small)) or small == sign.startswith("<"):
            continue
        seen.add(start)
        note = f"{true!r} is {tested[0].p_value} {_FLIPPED[sign]} {text_of(code, level)} after {tested[0].name}"
        yield Edit(start=start, end=end, text=f" {_FLIPPED[sign]} "), note


def _claims(tree: ast.Module) -> Iterator[tuple[ast.expr, str, str]]:
    """(condition, what is said where it holds, what else; empty if nothing is)."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=label)], value=value):
                yield from _said(label, value)
            case ast.JoinedStr(values=parts):
                for before, part in zip([None, *parts], parts, strict=False):
                    if isinstance(part, ast.FormattedValue):
                        named = _LABEL.search(str(before.value)) if isinstance(before, ast.Constant) else None
                        yield from _said(named.group(1) if named else "", part.value)
            case ast.If(test=test, body=[body], orelse=[orelse]):
                true, false = _told(body), _told(orelse)
                if true and false:
                    yield test, _as_claim(*true), _as_claim(*false)
            case ast.IfExp() | ast.BoolOp():
                yield from _said("", node)


def _said(label: str, value: ast.expr) -> Iterator[tuple[ast.expr, str, str]]:
    match value:
        case ast.Compare():
            yield value, label, ""
        case (
            ast.IfExp(test=test, body=ast.Constant(value=str(true)), orelse=ast.Constant(value=str(false)))
            | ast.BoolOp(
                op=ast.Or(),
                values=[
                    ast.BoolOp(op=ast.And(), values=[test, ast.Constant(value=str(true))]),
                    ast.Constant(value=str(false)),
                ],
            )
        ):
            yield test, _as_claim(label, true), _as_claim(label, false)


def _told(statement: ast.stmt) -> tuple[str, str] | None:
    """(name, text) of ``verdict = "normal"`` and ``print("normal")``."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=label)], value=ast.Constant(value=str(text))):
            return label, text
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[ast.Constant(value=str(text))])):
            return "", text
    return None


def _as_claim(label: str, text: str) -> str:
    """*yes* and *no* say what the name says: ``is_normal = "no"`` is *not is_normal*."""
    answer = _ANSWERS.get(text.strip().lower())
    if answer is None:
        return text
    return label if answer else f"not {label}"


def _never_said(
    tree: ast.Module, code: str, prompt: str, tests: list[_Tested], defined: Collection[str]
) -> Iterator[tuple[Edit, str]]:
    """``is_normal, p = shapiro(x)``, or a name that nothing binds: the verdict is written behind the test."""
    used, bound = used_names(tree), bound_names(tree)
    formatted = {
        part.value.id
        for part in ast.walk(tree)
        if isinstance(part, ast.FormattedValue)
        and isinstance(part.value, ast.Name)
        and part.format_spec is not None
    }
    for tested in tests:
        match tested.statement.targets:
            case [ast.Tuple(elts=[ast.Name(id=name) as first, ast.Name()])]:
                stored = sum(isinstance(node, ast.Name) and node.id == name for node in _stores(tree))
                is_verdict = name in used and name not in formatted and stored == 1
                if is_verdict and (verdict := _verdict(tree, tested, name, prompt)):
                    start, end = span(code, first)
                    yield Edit(start=start, end=end, text=_unused("statistic", used | bound)), ""
                    yield (
                        _behind(code, tested, f"{name} = {verdict}"),
                        f"the statistic is not the verdict: {name} = {verdict}",
                    )
    missing = sorted(used - bound - set(defined) - set(dir(builtins)) - formatted)
    if len(tests) == 1:
        for name in missing:
            if verdict := _verdict(tree, tests[0], name, prompt):
                yield _behind(code, tests[0], f"{name} = {verdict}"), f"added: {name} = {verdict}"


def _stores(tree: ast.Module) -> Iterator[ast.Name]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _behind(code: str, tested: _Tested, line: str) -> Edit:
    _, end = span(code, tested.statement)
    return Edit(start=end, end=end, text=f"\n{' ' * tested.statement.col_offset}{line}")


def _unused(name: str, taken: Collection[str]) -> str:
    return name if name not in taken else f"test_{name}"


def _verdict(tree: ast.Module, tested: _Tested, name: str, prompt: str) -> str:
    """The expression of a verdict of this name; empty where none follows from the test."""
    small = tested.is_small(name)
    if small is None or not _VERDICT.match(name):
        return ""
    levels = set(_LEVEL.findall(prompt))
    before = [node for node in tree.body if node.lineno < tested.statement.lineno]
    named = "alpha" in bound_names(ast.Module(body=before, type_ignores=[]))
    level = "alpha" if named else levels.pop() if len(levels) == 1 else ALPHA
    if (words := _words(tested, small, prompt)) is None:
        return f"{tested.p_value} {'<' if small else '>='} {level}"
    return f"{words[0]!r} if {tested.p_value} < {level} else {words[1]!r}"


def _words(tested: _Tested, small: bool, prompt: str) -> tuple[str, str] | None:
    """What the prompt wants to be said where the p value is small, and where it is not; None if it does not say."""
    quoted = list(dict.fromkeys(_QUOTED.findall(prompt)))
    claims = {word: tested.is_small(word) for word in quoted if "_" not in word}
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
