"""What follows from a p value, where a program names the statistic so, never says it, or turns it round.

The test says what its null hypothesis is: a small p value speaks against *normal* after a test of normality, and
for *significant*, *different* and *rejected* after any. Small models know the words and mix up their sides.
Corrected before the code runs; the words are those that the prompt puts in quotes.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from jupyter_codeagent.agent.rules.statistics import TESTS
from jupyter_codeagent.agent.source import (
    Edit,
    apply_edits,
    before_on_its_line,
    bound_names,
    called_name,
    parse,
    span,
    text_of,
    used_names,
)

_NORMALITY = frozenset({"shapiro", "normaltest", "jarque_bera"})
_FLIPPED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_SUBJECT = (
    r"(?:(?:the |a )?(?:data|sample|column|distribution|values|residuals|differences?|results?|correlation|it|they)"
    r"\s+)?"
)
_VERB = r"(?:(?:is|are|looks?|follows?|(?P<verb>(?:is|are|does|do)(?:\s+not|n['’]t))(?:\s+(?:look|follow))?)\s+)?"
_NORMAL = re.compile(
    rf"{_SUBJECT}{_VERB}(?P<negated>not|non)?[-\s]*(?:approximately )?(?:an? )?(?:normal(?:ly)?|gaussian)"
    r"(?: distribut(?:ed|ion))?",
    re.IGNORECASE,
)
_SIGNIFICANT = re.compile(
    rf"{_SUBJECT}{_VERB}(?P<negated>not?|non|in)?[-\s]*(?:statistically )?significant"
    r"(?:ly different| difference| correlation| relationship)?",
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"(?P<negated>fail(?:ed|s)? to |do(?:es)? not |cannot |not )?reject(?:ed)?"
    r"(?: (?:the )?(?:null(?: hypothesis)?|h0))?",
    re.IGNORECASE,
)
_NAME_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_NORMAL_WORDS = frozenset({"normal", "normally", "normality", "gaussian"})
_DIFFERENT_WORDS = frozenset({"significant", "significantly", "significance", "reject", "rejected"})
_OTHER_WORDS = frozenset({
    "is", "are", "has", "or", "not", "non", "distribution", "distributed", "dist", "data", "test", "result",
    "status", "decision", "statistically", "different", "difference", "null", "h", "0", "hypothesis", "verdict",
})  # fmt: skip
_QUOTED = re.compile(r"[\"'“‘]([^\"'“”‘’\n]{2,40})[\"'”’]")
_YES_OR_NO = re.compile(r"\b(yes)\b\W{1,5}(?:or\W{1,3})?\b(no)\b", re.IGNORECASE)
_LEVEL = re.compile(
    r"\b(?:alpha|levels?|significance|p.?values?)\b[^\d\n]{0,40}(0\.(?:0[15]|1|001|10))(?!\d)", re.IGNORECASE
)
_LABEL = re.compile(r"([^\n,;]*\w)\W*$")
_AROUND = " \t.!:=[(@*-?"
_ANSWERS = {"yes": True, "true": True, "no": False, "false": False}
ALPHA = "0.05"
MAX_CLAIM_CHARS = 80
MAX_TESTS = 20
"""Of a program that is looked at; one with more of them is no answer to a question."""


@dataclass(frozen=True, kw_only=True)
class _Claim:
    """What a program says where a condition holds."""

    text: str
    is_denied: bool = False
    """*no* under the name ``is_normal``."""


@dataclass(frozen=True, kw_only=True)
class _Tested:
    """One test of a program."""

    statement: ast.Assign
    name: str
    p_value: str
    """As the program writes it: ``p``, ``result.pvalue``."""

    def is_small(self, claim: _Claim) -> bool | None:
        """Whether the claim holds where the p value is small; None where that does not follow from this test.

        A closed list of words and sentences: *no deviation from normality* and a thousand others say what no list
        of negations foresees.
        """
        text = claim.text.strip(_AROUND)
        if len(text) > MAX_CLAIM_CHARS:
            return None
        said = _of_name(text) if re.fullmatch(r"\w+", text) else _of_text(text)
        if said is None:
            return None
        is_normal, is_negated = said
        if is_normal and self.name not in _NORMALITY:
            return None
        return is_normal == (is_negated != claim.is_denied)


def _of_name(name: str) -> tuple[bool, bool] | None:
    """(of normality, denied) for names like ``is_not_normal`` and ``significant``; None for any other."""
    words = [word.lower() for word in _NAME_WORDS.findall(name)]
    normal, different = _NORMAL_WORDS & set(words), _DIFFERENT_WORDS & set(words)
    if set(words) - _NORMAL_WORDS - _DIFFERENT_WORDS - _OTHER_WORDS or bool(normal) == bool(different):
        return None
    return bool(normal), bool({"not", "non"} & set(words)) and "or" not in words


def _of_text(text: str) -> tuple[bool, bool] | None:
    for pattern in (_NORMAL, _SIGNIFICANT, _REJECTED):
        if (match := pattern.fullmatch(text)) is not None:
            return pattern is _NORMAL, bool(match["negated"]) != bool(match.groupdict().get("verb"))
    return None


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
    """Those whose p value has a name of its own: bound once, by the test."""
    stored = Counter(node.id for node in _stores(tree))
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
        if (name := called_name(call)[1]) in TESTS and stored[p.partition(".")[0]] == 1:
            is_normality = name in ("kstest", "ks_1samp") and "norm" in text_of(code, call)
            yield _Tested(statement=node, name="normaltest" if is_normality else name, p_value=p)


def _turned_round(
    tree: ast.Module, code: str, _prompt: str, tests: list[_Tested], _defined: Collection[str]
) -> Iterator[tuple[Edit, str]]:
    """``"normal" if p < 0.05 else "not normal"``: the comparison is turned."""
    by_p_value = {test.p_value: test for test in tests}
    seen: set[int] = set()
    for comparison, true, false in _claims(tree):
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


def _dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return f"{owner}.{name}"
    return ""


def _claims(tree: ast.Module) -> Iterator[tuple[ast.expr, _Claim, _Claim | None]]:
    """(condition, what is said where it holds, what else; None if nothing is)."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=label)], value=value):
                yield from _said(label, value)
            case ast.JoinedStr(values=parts):
                for before, part in zip([None, *parts], parts, strict=False):
                    if isinstance(part, ast.FormattedValue):
                        text = str(before.value)[-MAX_CLAIM_CHARS:] if isinstance(before, ast.Constant) else ""
                        named = _LABEL.search(text)
                        yield from _said(named.group(1).strip(_AROUND) if named else "", part.value)
            case ast.If(test=test, body=[body], orelse=[orelse]):
                true, false = _told(body), _told(orelse)
                if true and false:
                    yield test, true, false
            case ast.IfExp() | ast.BoolOp():
                yield from _said("", node)


def _said(label: str, value: ast.expr) -> Iterator[tuple[ast.expr, _Claim, _Claim | None]]:
    match value:
        case ast.Compare():
            yield value, _Claim(text=label), None
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


def _told(statement: ast.stmt) -> _Claim | None:
    """Of ``verdict = "normal"`` and ``print("normal")``."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=label)], value=ast.Constant(value=str(text))):
            return _as_claim(label, text)
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[ast.Constant(value=str(text))])):
            return _as_claim("", text)
    return None


def _as_claim(label: str, text: str) -> _Claim:
    """*yes* and *no* say what the name says: ``is_normal = "no"`` denies it."""
    answer = _ANSWERS.get(text.strip().lower())
    return _Claim(text=text) if answer is None else _Claim(text=label, is_denied=not answer)


def _never_said(
    tree: ast.Module, code: str, prompt: str, tests: list[_Tested], defined: Collection[str]
) -> Iterator[tuple[Edit, str]]:
    """``is_normal, p = shapiro(x)``, or a name that nothing binds: the verdict is written behind the test."""
    used, bound = used_names(tree), bound_names(tree)
    stored = Counter(node.id for node in _stores(tree))
    shown = _shown_names(tree)
    figures = _used_as_figures(tree)
    for tested in tests:
        if before_on_its_line(code, tested.statement).strip():
            continue
        match tested.statement.targets:
            case [ast.Tuple(elts=[ast.Name(id=name) as first, ast.Name()])] if (
                name in used - figures and stored[name] == 1 and name.lower() not in _NORMAL_WORDS
            ):
                if verdict := _verdict(tree, tested, name, prompt, is_shown=name in shown):
                    start, end = span(code, first)
                    yield Edit(start=start, end=end, text=_unused("statistic", used | bound)), ""
                    note = f"the statistic is not the verdict: {name} = {verdict}"
                    yield _behind(code, tested, f"{name} = {verdict}"), note
    if len(tests) != 1 or "*" in bound or before_on_its_line(code, tests[0].statement).strip():
        return
    for name in sorted(used - bound - set(defined) - set(dir(builtins)) - figures):
        if verdict := _verdict(tree, tests[0], name, prompt, is_shown=name in shown):
            yield _behind(code, tests[0], f"{name} = {verdict}"), f"added: {name} = {verdict}"


def _shown_names(tree: ast.Module) -> set[str]:
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


def _used_as_figures(tree: ast.Module) -> set[str]:
    """Names that are formatted, called, or given to a function other than `print`: no verdicts."""
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


def _stores(tree: ast.Module) -> Iterator[ast.Name]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))


def _behind(code: str, tested: _Tested, line: str) -> Edit:
    end = span(code, tested.statement)[1]
    return Edit(start=end, end=end, text=f"\n{before_on_its_line(code, tested.statement)}{line}")


def _unused(name: str, taken: Collection[str]) -> str:
    return name if name not in taken else f"test_{name}"


def _verdict(tree: ast.Module, tested: _Tested, name: str, prompt: str, *, is_shown: bool) -> str:
    """The expression of a verdict of this name; empty where none follows from the test."""
    small = tested.is_small(_Claim(text=name))
    if small is None:
        return ""
    levels = set(_LEVEL.findall(prompt))
    before = (node for node in tree.body if isinstance(node, ast.Assign) and node.lineno < tested.statement.lineno)
    named = any(isinstance(target, ast.Name) and target.id == "alpha" for node in before for target in node.targets)
    level = "alpha" if named else levels.pop() if len(levels) == 1 else ALPHA
    if not is_shown or (words := _words(tested, small, prompt)) is None:
        return f"{tested.p_value} {'<' if small else '>='} {level}"
    return f"{words[0]!r} if {tested.p_value} < {level} else {words[1]!r}"


def _words(tested: _Tested, small: bool, prompt: str) -> tuple[str, str] | None:
    """What the prompt wants to be said where the p value is small, and where it is not; None if it does not say."""
    quoted = list(dict.fromkeys(_QUOTED.findall(prompt)))
    claims = {word: tested.is_small(_Claim(text=word)) for word in quoted if "_" not in word}
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
