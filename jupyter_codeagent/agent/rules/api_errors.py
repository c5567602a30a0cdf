"""Certain corrections after an error, without asking the model: one run more instead of one call more.

Each is offered only if exactly one thing can be meant; the caller runs the corrected code once and goes on as after
any other error if it fails again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from jupyter_codeagent.agent.prompt.hints import missing_labels, missing_name, same_columns
from jupyter_codeagent.agent.rules.api_changes import FREQUENCIES
from jupyter_codeagent.agent.rules.columns_meant import (
    group_the_table,
    group_what_it_is_of,
    quote_column,
    use_the_joined_table,
    use_what_is_loaded,
)
from jupyter_codeagent.agent.rules.conversions import convert_dates, convert_numbers
from jupyter_codeagent.agent.rules.date_columns import derive_from_dates, parts_as_dates
from jupyter_codeagent.agent.rules.imports import ALIASES
from jupyter_codeagent.agent.rules.ml_pitfalls import leave_incomplete_out
from jupyter_codeagent.agent.rules.polars_names import say_in_polars
from jupyter_codeagent.agent.rules.rewrite import Prepared, add_imports, edited
from jupyter_codeagent.agent.rules.statistics import leave_missing_out
from jupyter_codeagent.agent.rules.tool_names import rename_argument
from jupyter_codeagent.agent.source import (
    Edit,
    add_argument,
    before_on_its_line,
    bound_names,
    called_name,
    is_on,
    parse,
    single_values,
    span,
    statement_at,
    text_of,
    used_names,
)
from jupyter_codeagent.types.sandbox import ExecutionError, NamespaceEntry

_NUMERIC_ONLY = re.compile(r"with string dtype|does not support operation|could not convert string to float")
_FORMAT = re.compile(
    r"unsupported format string passed to (?:Series|DataFrame|Index|ndarray|numpy\.ndarray)\.__format__"
)
_PLACEHOLDER = re.compile(r"\{([^{}:!]+):,?\.(\d)f\}")
_TAKE_FREQUENCY = frozenset({"resample", "Grouper", "date_range", "asfreq", "floor", "ceil", "round"})
_BY_LABEL = frozenset(
    {"sort_values", "nlargest", "nsmallest", "groupby", "set_index", "pivot_table", "drop_duplicates"}
)
_REDUCTIONS = frozenset({"mean", "median", "std", "var", "corr", "quantile", "skew"})


def repair(code: str, error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> Prepared | None:
    """The corrected code with a note, or None where nothing is certain."""
    tree = parse(code)
    if tree is None:
        return None
    for fix in FIXES:
        fixed = fix(code, tree, error, namespace)
        if fixed is not None and fixed.code != code and parse(fixed.code) is not None:
            return fixed
    return None


def _import(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    line = ALIASES.get(missing_name(error))
    if line is None:
        return None
    return Prepared(code=f"{line}\n{code}", notes=(f"added: {line}",))


def _no_package(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``import stats``: what is called so is a part of a package."""
    match = re.fullmatch(r"No module named '(\w+)'", error.evalue)
    line = ALIASES.get(match.group(1), "") if match is not None else ""
    if match is None or not line.startswith("from "):
        return None
    edits = [
        Edit(start=start, end=end, text=line)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        and [(one.name, one.asname) for one in node.names] == [(match.group(1), None)]
        for start, end in [span(code, node)]
    ]
    return edited(code, edits, f"import {match.group(1)} is {line}")


def _columns(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """Labels that differ from a column in case, blanks or underscores only; with the first all others, each of
    which would else cost a run of its own."""
    right = same_columns(missing_labels(error), namespace)
    if not right:
        return None
    right |= same_columns(sorted(_read_labels(tree)), namespace)
    edits = [edit for node in ast.walk(tree) for edit in _relabel(code, node, right)]
    notes = tuple(f"column {label!r} is {column!r}" for label, column in right.items())
    return edited(code, edits, *notes)


def _read_labels(tree: ast.Module) -> set[str]:
    """Labels that the code takes from something by ``["label"]``, and that stand nowhere else in it.

    What `assign`, `agg` or `rename` make stands there as a keyword or as another text.
    """
    read: set[str] = set()
    as_index: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            parts = node.slice.elts if isinstance(node.slice, ast.List) else [node.slice]
            for part in parts:
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    read.add(part.value)
                    as_index.add(id(part))
    elsewhere = {word.arg for word in ast.walk(tree) if isinstance(word, ast.keyword)}
    elsewhere |= {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in as_index
        and isinstance(node.value, str)
    }  # fmt: skip
    return read - elsewhere


def _variable(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``df["score"]`` where no frame has such a column and the code has made a Series of this name."""
    series = _series_for(tree, error, namespace)
    edits = []
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Name(), slice=ast.Constant(value=str(label)), ctx=ast.Load()) if (
                label == series
            ):
                start, end = span(code, node)
                edits.append(Edit(start=start, end=end, text=series))
    return edited(code, edits, f"{series} is a variable, not a column")


def _series_for(tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> str:
    """The Series that the code has made and that is called as the column which no frame has; empty else."""
    labels = missing_labels(error)
    made = {entry.name for entry in namespace if entry.type_name == "Series"} & bound_names(tree)
    if error.ename != "KeyError" or len(labels) != 1 or labels[0] not in made:
        return ""
    return "" if any(labels[0] in entry.columns for entry in namespace) else labels[0]


def _as_column(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``rates.sort_values("change")`` where ``change`` is a Series with the rows of ``rates``, and no column."""
    label = _series_for(tree, error, namespace)
    rows = {entry.name: entry.shape[:1] for entry in namespace}
    edits = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=frame) as owner, attr=method)) if (
                method in _BY_LABEL and is_on(node, error.line) and label and rows.get(frame) == rows[label]
            ):
                told = [*node.args, *(word.value for word in node.keywords)]
                texts = {one.value for part in told for one in ast.walk(part) if isinstance(one, ast.Constant)}
                _, end = span(code, owner)
                edits += [Edit(start=end, end=end, text=f".assign({label}={label})")] if label in texts else []
    return edited(code, edits, f"{label} is taken as a column of the table whose rows it has")


def _relabel(code: str, node: ast.AST, right: dict[str, str]) -> Iterator[Edit]:
    match node:
        case ast.Constant(value=str(label)) if label in right:
            start, end = span(code, node)
            if code[start:end] in (repr(label), f'"{label}"'):  # not a part of an f-string, not a docstring
                yield Edit(start=start, end=end, text=repr(right[label]))
        case ast.Attribute(attr=label) if label in right and right[label].isidentifier():
            _, end = span(code, node)
            yield Edit(start=end - len(label), end=end, text=right[label])


def _argument(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """Of a function of the user's, whose signature the error tells."""
    edits, note = rename_argument(code, tree, error.evalue)
    return edited(code, edits, note)


def _frequency(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """Pandas itself said which alias it no longer takes, so this is no period."""
    match = re.search(r"Invalid frequency: (\d*)([A-Z]{1,2})\b", error.evalue)
    if match is None or "for Period" in error.evalue or match.group(2) not in FREQUENCIES:
        return None
    old, new = match.group(1) + match.group(2), match.group(1) + FREQUENCIES[match.group(2)]
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and called_name(node)[1] in _TAKE_FREQUENCY
    ]
    arguments = [
        value
        for call in calls
        for value in [*call.args[:1], *(word.value for word in call.keywords if word.arg in ("freq", "rule"))]
    ]
    values = [value for value in arguments if isinstance(value, ast.Constant) and value.value == old]
    edits = [Edit(start=start, end=end, text=repr(new)) for start, end in (span(code, value) for value in values)]
    return edited(code, edits, f"frequency {old!r} is now {new!r}")


def _numeric_only(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``frame.mean()`` left text columns out by itself before pandas 2."""
    if not _NUMERIC_ONLY.search(error.evalue):
        return None
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _REDUCTIONS
        and not node.args and not node.keywords and is_on(node, error.line)
    ]  # fmt: skip
    edits = [add_argument(code, call, "numeric_only=True") for call in calls]
    return edited(code, edits, "numeric_only=True added")


def _histogram(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``df["x"].hist(title=...)`` hands the title to each bar, ``df.hist(x="x")`` the label to all of them;
    ``df["x"].plot.hist`` is what is meant."""
    if "hist() got multiple values for argument 'x'" in error.evalue:
        edits = [
            edit
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and called_name(node)[1] == "hist" and is_on(node, error.line)
            for edit in _histogram_of(code, node)
        ]
        return edited(code, edits, "hist(x=…) is now plot.hist of this column")
    if not re.search(r"unexpected keyword argument '(?:title|xlabel|ylabel)'", error.evalue):
        return None
    edits = [
        Edit(start=end - len("hist"), end=end, text="plot.hist")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "hist"
        and any(word.arg in ("title", "xlabel", "ylabel") for word in node.keywords)
        and isinstance(node.func.value, ast.Subscript)
        for end in [span(code, node.func)[1]]
    ]  # fmt: skip
    return edited(code, edits, "hist is now plot.hist")


_OF_HISTOGRAMS = frozenset((
    "x", "bins", "range", "title", "label", "figsize", "color", "alpha", "edgecolor", "grid", "ax",
    "xlabel", "ylabel",
))  # fmt: skip


def _histogram_of(code: str, call: ast.Call) -> Iterator[Edit]:
    words = {word.arg: text_of(code, word.value) for word in call.keywords if word.arg is not None}
    if (
        not call.args
        and len(words) == len(call.keywords)
        and "x" in words
        and words.keys() <= _OF_HISTOGRAMS
        and isinstance(call.func, ast.Attribute)
    ):
        others = ", ".join(f"{name}={value}" for name, value in words.items() if name != "x")
        start, end = span(code, call)
        text = f"{text_of(code, call.func.value)}[{words['x']}].plot.hist({others})"
        yield Edit(start=start, end=end, text=text)


def _colours(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``scatter(c=names)``: matplotlib wants numbers, a category's codes colour the groups."""
    if "'c' argument must be a color" not in error.evalue:
        return None
    values = [
        word.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and called_name(node)[1] == "scatter"
        for word in node.keywords
        if word.arg in ("c", "color") and isinstance(word.value, ast.Subscript | ast.Attribute)
    ]
    edits = [
        Edit(start=end, end=end, text='.astype("category").cat.codes') for _, end in (span(code, v) for v in values)
    ]
    return edited(code, edits, "colours are the codes of the groups")


def _formatted(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``f"{means:.2f}"`` of a whole column: rounding works for columns and single numbers alike."""
    if error.line is None or not _FORMAT.search(error.evalue):
        return None
    lines = code.split("\n")
    statement = statement_at(tree, error.line)
    if statement is None:
        return None
    for at in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
        lines[at] = _PLACEHOLDER.sub(r"{np.round(\1, \2)}", lines[at])
    fixed = add_imports("\n".join(lines), [entry.name for entry in namespace])
    if fixed == code or parse(fixed) is None:
        return None
    return Prepared(code=fixed, notes=("a column is rounded, not formatted",))


def _squared(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``mean_squared_error(a, b, squared=False)`` was the root until scikit-learn 1.6."""
    if "unexpected keyword argument 'squared'" not in error.evalue:
        return None
    edits = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or called_name(node)[1] != "mean_squared_error":
            continue
        for word in node.keywords:
            if word.arg == "squared" and isinstance(word.value, ast.Constant):
                start, end = span(code, node)
                kept = [ast.unparse(part) for part in node.args]
                kept += [ast.unparse(other) for other in node.keywords if other is not word]
                called = f"{ast.unparse(node.func)}({', '.join(kept)})"
                edits.append(Edit(start=start, end=end, text=called if word.value.value else f"{called} ** 0.5"))
    note = "squared=False is now the root of mean_squared_error"
    return edited(code, edits, note)


def _coerced(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``x.astype(float, errors="coerce")``: only `pd.to_numeric` has this."""
    if "Expected value of kwarg 'errors' to be one of ['raise', 'ignore']" not in error.evalue:
        return None
    edits = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=column, attr="astype"),
                args=[ast.Name(id="float")],
                keywords=[ast.keyword(arg="errors", value=ast.Constant(value="coerce"))],
            ):
                start, end = span(code, node)
                text = f'pd.to_numeric({text_of(code, column)}, errors="coerce")'
                edits.append(Edit(start=start, end=end, text=text))
    return edited(code, edits, "astype with coerce is pd.to_numeric", namespace=namespace)


def _several_columns(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``df.groupby("g")["a", "b"]`` was a list of columns before pandas 2."""
    if "Cannot subset columns with a tuple" not in error.evalue:
        return None
    edits = []
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Call() as call, slice=ast.Tuple() as labels) if (
                called_name(call)[1] == "groupby"
            ):
                start, end = span(code, labels)
                edits += [Edit(start=start, end=start, text="["), Edit(start=end, end=end, text="]")]
    return edited(code, edits, "columns of groups are taken by a list")


def _in_order(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``a, b = df.head(9), df.drop(a.index)``: both sides are computed before either is bound."""
    missing = missing_name(error)
    edits = []
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(
                values
            ) and all(isinstance(target, ast.Name) for target in targets):
                names = [target.id for target in targets if isinstance(target, ast.Name)]
                used = [used_names(value) & set(names) for value in values]
                if missing not in names or set().union(*used) != {missing}:
                    continue
                before = before_on_its_line(code, node)
                if before.strip() or any(used[: names.index(missing) + 1]):
                    continue
                texts = (text_of(code, value) for value in values)
                whole = (f"({text})" if "\n" in text else text for text in texts)
                lines = f"\n{before}".join(f"{name} = {text}" for name, text in zip(names, whole, strict=True))
                start, end = span(code, node)
                edits.append(Edit(start=start, end=end, text=lines))
    return edited(code, edits, f"{missing} is bound before it is used")


def _extreme_of_number(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``most = x.max()``, ``most.idxmax()``: where the largest value is, not the largest of one number."""
    if not re.search(r"(?:float|int)\d*' object has no attribute 'idx(?:max|min)'", error.evalue):
        return None
    values = single_values(tree)
    edits = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="idxmax" | "idxmin" as name)) if is_on(
                node, error.line
            ):
                number = values.get(owner.id) if isinstance(owner, ast.Name) else owner
                match number:
                    case ast.Call(func=ast.Attribute(value=whole, attr=reduced), args=[]) if name.endswith(reduced):
                        start, end = span(code, owner)
                        text = text_of(code, whole)
                        is_one = isinstance(whole, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
                        if "groupby" not in text:
                            edits.append(Edit(start=start, end=end, text=text if is_one else f"({text})"))
    return edited(code, edits, "the place of the extreme value is looked for in all values, not in the extreme one")


def _label_as_position(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """``df.columns[x.idxmax()]``: `idxmax` gives the label itself."""
    if error.ename != "IndexError" or "only integers, slices" not in error.evalue:
        return None
    edits = []
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(
                value=ast.Attribute(attr="columns" | "index"),
                slice=ast.Call(func=ast.Attribute(attr="idxmax" | "idxmin")) as label,
            ) if is_on(node, error.line):
                start, end = span(code, node)
                edits.append(Edit(start=start, end=end, text=text_of(code, label)))
    return edited(code, edits, "idxmax and idxmin give the label itself")


def _incomplete_rows(
    code: str, tree: ast.Module, error: ExecutionError, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """*Input X contains NaN*: rows are left out of features and target together, or their numbers differ."""
    if re.search(r"Input (?:X|y) contains NaN", error.evalue) is None:
        return None
    edits, note = leave_incomplete_out(tree, code)
    return edited(code, edits, note)


FIXES = (
    _argument, _import, _no_package, quote_column, use_what_is_loaded, say_in_polars, group_the_table,
    group_what_it_is_of, _columns, use_the_joined_table, derive_from_dates, parts_as_dates, _variable, _as_column,
    _frequency, convert_dates, convert_numbers, _numeric_only, _histogram, _colours, _formatted, _squared,
    _coerced, _several_columns, _in_order, _extreme_of_number, _label_as_position, _incomplete_rows,
)  # fmt: skip
"""The first that offers something counts."""


def repair_missing(code: str) -> Prepared | None:
    """For a result that is all missing: missing values are left out of the tests; None where there is no test."""
    tree = parse(code)
    found = leave_missing_out(tree, code) if tree is not None else []
    return edited(code, [edit for edit, _ in found], *(note for _, note in found))
