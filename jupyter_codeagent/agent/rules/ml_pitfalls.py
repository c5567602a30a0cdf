"""Corrections of programs that train models.

A model with its target among the features has a perfect score that is worth nothing. Rows with missing values are
refused by scikit-learn's linear models, and NumPy fits nothing to them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jupyter_codeagent.agent.rules.rule import Fix, Program, edited, from_edits
from jupyter_codeagent.agent.source import (
    Edit,
    bound_names,
    called_name,
    column_of,
    single_values,
    span,
    valued,
)

_SPLITS = frozenset({"train_test_split", "cross_val_score", "cross_validate", "cross_val_predict"})
_FITS = frozenset({"fit", "fit_predict", "OLS", "Logit"})
_CURVES = frozenset({"polyfit", "linregress"})
"""One missing value, and slope and intercept are missing too: nothing is drawn, and no exception says so."""
_NAN_IN_INPUT = re.compile(r"Input (?:X|y) contains NaN")
_OF_MISSING = re.compile(
    r"(?:drop|fill)na\(|(?:not|is)(?:na|null)\(|isfinite|isnan|nan_policy|interpolate|[Ii]mput"
)


@from_edits
def keep_target_out(program: Program) -> list[tuple[Edit, str]]:
    """Edits that take the target's column out of the list of features, each with its note.

    Features and target are read where both stand as ``frame[["a", "b"]]`` and ``frame["b"]`` of one frame: in the
    call itself, or as the only value of the name that is handed over.
    """
    tree, code = program.tree, program.code
    values = single_values(tree)
    found: dict[int, tuple[Edit, str]] = {}
    for features, target in _pairs(tree):
        frame, label = _column(valued(target, values))
        listed_frame, labels = _columns(valued(features, values))
        if not label or listed_frame != frame or len(labels) < 2:
            continue
        for element in labels:
            if element.value == label:
                start, _ = span(code, element)
                note = f"removed target {label!r} from the features"
                found[start] = (_without(code, labels, element), note)
    return [found[start] for start in sorted(found)]


def incomplete_rows(program: Program) -> Fix | None:
    """Take features and target without the rows in which one of them is missing: *Input X contains NaN*.

    None where the program fills missing values itself: it has forgotten some, and what is meant is not certain.
    """
    tree, code = program.tree, program.code
    if _NAN_IN_INPUT.search(program.error.evalue) is None or re.search(r"fillna|[Ii]mput", code):
        return None
    values = single_values(tree)
    found: dict[int, Edit] = {}
    left_out: dict[str, None] = {}
    for pair in _pairs(tree):
        features, target = (valued(node, values) for node in pair)
        frame, label = _column(target)
        listed_frame, labels = _columns(features)
        if not label or not labels or listed_frame != frame:
            continue
        needed = [element.value for element in labels] + [label]
        for node in (features, target):
            assert isinstance(node, ast.Subscript | ast.Attribute)
            end = span(code, node.value)[1]
            edit = Edit(start=end, end=end, text=f".dropna(subset={needed!r})")
            if found.setdefault(end, edit) != edit:
                return None  # one target for two models, each with rows of its own
        left_out |= dict.fromkeys(map(str, needed))
    return edited(program, list(found.values()), f"left out rows without {', '.join(left_out)}")


def fit_complete_rows(program: Program) -> Fix | None:
    """Fit curves to the rows that have both of their columns.

    Left alone where the program does something about missing values itself, or binds the frame anew.
    """
    tree, code, incomplete = program.tree, program.code, program.incomplete
    if not incomplete or _OF_MISSING.search(code):
        return None
    values, bound = single_values(tree), bound_names(tree)
    edits: list[Edit] = []
    needed: dict[str, None] = {}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if called_name(call)[1] not in _CURVES or len(call.args) < 2:
            continue
        columns = [column_of(valued(node, values)) for node in call.args[:2]]
        frames = {column[0] for column in columns if column is not None}
        if None in columns or len(frames) != 1 or frames & bound:
            continue
        frame, labels = frames.pop(), [column[1] for column in columns if column is not None]
        if not set(map(repr, labels)) & set(incomplete.get(frame, ())):
            continue
        for node, label in zip(call.args, labels, strict=False):
            start, end = span(code, node)
            edits.append(Edit(start=start, end=end, text=f"{frame}.dropna(subset={labels!r})[{label!r}]"))
        needed |= dict.fromkeys(labels)
    return edited(program, edits, f"fitted the line to the rows that have {' and '.join(needed)}")


def _pairs(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.expr]]:
    """(features, target) of calls that take both."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(args=[features, target, *_]) if called_name(node)[1] in _SPLITS | _FITS:
                if called_name(node)[1] in ("OLS", "Logit"):
                    features, target = target, features  # statsmodels takes the target first
                if called_name(node)[1] in ("cross_val_score", "cross_validate", "cross_val_predict"):
                    if len(node.args) < 3:
                        continue
                    features, target = node.args[1], node.args[2]  # the model comes first
                yield features, target


def _column(node: ast.expr) -> tuple[str, str]:
    """Also of ``frame[["label"]]``."""
    match node:
        case ast.Subscript(value=ast.Name(id=frame), slice=ast.List(elts=[ast.Constant(value=str(label))])):
            return frame, label
    return column_of(node) or ("", "")


def _columns(node: ast.expr) -> tuple[str, list[ast.Constant]]:
    match node:
        case ast.Subscript(value=ast.Name(id=frame), slice=ast.List(elts=elements)):
            constants = [element for element in elements if isinstance(element, ast.Constant)]
            return (frame, constants) if len(constants) == len(elements) else ("", [])
    return "", []


def _without(code: str, elements: list[ast.Constant], element: ast.Constant) -> Edit:
    """Remove one element from a list, with its comma."""
    at = elements.index(element)
    start, end = span(code, element)
    if at + 1 < len(elements):
        return Edit(start=start, end=span(code, elements[at + 1])[0], text="")
    return Edit(start=span(code, elements[at - 1])[1], end=end, text="")
