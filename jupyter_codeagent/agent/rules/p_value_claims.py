"""What a program claims after a statistical test: *normal*, *significant*, *rejected*, under which condition.

The test says what its null hypothesis is: a small p value speaks against *normal* after a test of normality, and
for *significant*, *different* and *rejected* after any.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_codeagent.agent.rules.statistics import TESTS
from jupyter_codeagent.agent.source import called_name, text_of

_NORMALITY = frozenset({"shapiro", "normaltest", "jarque_bera"})
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
NORMAL_WORDS = frozenset({"normal", "normally", "normality", "gaussian"})
_DIFFERENT_WORDS = frozenset({"significant", "significantly", "significance", "reject", "rejected"})
_OTHER_WORDS = frozenset({
    "is", "are", "has", "or", "not", "non", "distribution", "distributed", "dist", "data", "test", "result",
    "status", "decision", "statistically", "different", "difference", "null", "h", "0", "hypothesis", "verdict",
})  # fmt: skip
_LABEL = re.compile(r"([^\n,;]*\w)\W*$")
AROUND = " \t.!:=[(@*-?"
_ANSWERS = {"yes": True, "true": True, "no": False, "false": False}
MAX_CLAIM_CHARS = 80
MAX_TESTS = 20
"""Of a program that is looked at; one with more of them is no answer to a question."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a program says where a condition holds."""

    text: str
    is_denied: bool = False
    """*no* under the name ``is_normal``."""


@dataclass(frozen=True, kw_only=True)
class Test:
    """One test of a program."""

    statement: ast.Assign
    name: str
    p_value: str
    """As the program writes it: ``p``, ``result.pvalue``."""

    def is_small(self, claim: Claim) -> bool | None:
        """Check whether the claim holds where the p value is small; None if that does not follow from this test.

        A closed list of words and sentences: *no deviation from normality* and a thousand others say what no list
        of negations foresees.
        """
        text = claim.text.strip(AROUND)
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
    normal, different = NORMAL_WORDS & set(words), _DIFFERENT_WORDS & set(words)
    if set(words) - NORMAL_WORDS - _DIFFERENT_WORDS - _OTHER_WORDS or bool(normal) == bool(different):
        return None
    return bool(normal), bool({"not", "non"} & set(words)) and "or" not in words


def _of_text(text: str) -> tuple[bool, bool] | None:
    for pattern in (_NORMAL, _SIGNIFICANT, _REJECTED):
        if (match := pattern.fullmatch(text)) is not None:
            return pattern is _NORMAL, bool(match["negated"]) != bool(match.groupdict().get("verb"))
    return None


def tests_of(tree: ast.Module, code: str) -> list[Test]:
    """Find the tests of a program that has not too many of them.

    Those whose p value has a name of its own: bound once, by the test.
    """
    found = list(_tests(tree, code))
    return found if len(found) <= MAX_TESTS else []


def _tests(tree: ast.Module, code: str) -> Iterator[Test]:
    stored = Counter(node.id for node in stored_names(tree))
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
            yield Test(statement=node, name="normaltest" if is_normality else name, p_value=p)


def claims_of(tree: ast.Module) -> Iterator[tuple[ast.expr, Claim, Claim | None]]:
    """Return for each claim the condition, what is said where it holds, and what else, None if nothing."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=label)], value=value):
                yield from _said_in(label, value)
            case ast.JoinedStr(values=parts):
                for before, part in zip([None, *parts], parts, strict=False):
                    if isinstance(part, ast.FormattedValue):
                        text = str(before.value)[-MAX_CLAIM_CHARS:] if isinstance(before, ast.Constant) else ""
                        named = _LABEL.search(text)
                        yield from _said_in(named.group(1).strip(AROUND) if named else "", part.value)
            case ast.If(test=test, body=[body], orelse=[orelse]):
                true, false = _said_by(body), _said_by(orelse)
                if true and false:
                    yield test, true, false
            case ast.IfExp() | ast.BoolOp():
                yield from _said_in("", node)


def _said_in(label: str, value: ast.expr) -> Iterator[tuple[ast.expr, Claim, Claim | None]]:
    match value:
        case ast.Compare():
            yield value, Claim(text=label), None
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


def _said_by(statement: ast.stmt) -> Claim | None:
    """Of ``verdict = "normal"`` and ``print("normal")``."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=label)], value=ast.Constant(value=str(text))):
            return _as_claim(label, text)
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[ast.Constant(value=str(text))])):
            return _as_claim("", text)
    return None


def _as_claim(label: str, text: str) -> Claim:
    """*yes* and *no* say what the name says: ``is_normal = "no"`` denies it."""
    answer = _ANSWERS.get(text.strip().lower())
    return Claim(text=text) if answer is None else Claim(text=label, is_denied=not answer)


def stored_names(tree: ast.Module) -> Iterator[ast.Name]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
