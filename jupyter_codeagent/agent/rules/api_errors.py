"""Calls that today's pandas, matplotlib and scikit-learn refuse, and what they take instead.

Each is corrected only where exactly one thing can be meant: one run more instead of one call of the model more.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jupyter_codeagent.agent.known_imports import with_imports
from jupyter_codeagent.agent.rules.api_changes import FREQUENCIES
from jupyter_codeagent.agent.rules.error_reading import missing_name
from jupyter_codeagent.agent.rules.rule import Fix, Program, edited
from jupyter_codeagent.agent.source import (
    Edit,
    add_argument,
    before_on_its_line,
    called_name,
    is_on,
    single_values,
    span,
    statement_at,
    text_of,
    used_names,
)

_NUMERIC_ONLY = re.compile(r"with string dtype|does not support operation|could not convert string to float")
_FORMAT = re.compile(
    r"unsupported format string passed to (?:Series|DataFrame|Index|ndarray|numpy\.ndarray)\.__format__"
)
_PLACEHOLDER = re.compile(r"\{([^{}:!]+):,?\.(\d)f\}")
_TAKE_FREQUENCY = frozenset({"resample", "Grouper", "date_range", "asfreq", "floor", "ceil", "round"})
_NUMERIC_ONLY_METHODS = frozenset({"mean", "median", "std", "var", "corr", "quantile", "skew"})


def frequency(program: Program) -> Fix | None:
    """Pandas itself said which alias it no longer takes, so this is no period."""
    tree, code, error = program.tree, program.code, program.error
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
    return edited(program, edits, f"frequency {old!r} is now {new!r}")


def numeric_only(program: Program) -> Fix | None:
    """``frame.mean()`` left text columns out by itself before pandas 2."""
    tree, code, error = program.tree, program.code, program.error
    if not _NUMERIC_ONLY.search(error.evalue):
        return None
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        and node.func.attr in _NUMERIC_ONLY_METHODS and not node.args and not node.keywords
        and is_on(node, error.line)
    ]  # fmt: skip
    edits = [add_argument(code, call, "numeric_only=True") for call in calls]
    return edited(program, edits, "numeric_only=True added")


def histogram(program: Program) -> Fix | None:
    """``df["x"].hist(title=...)`` hands the title to each bar, ``df.hist(x="x")`` the label to all of them;
    ``df["x"].plot.hist`` is what is meant."""
    tree, code, error = program.tree, program.code, program.error
    if "hist() got multiple values for argument 'x'" in error.evalue:
        edits = [
            edit
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and called_name(node)[1] == "hist" and is_on(node, error.line)
            for edit in _histogram_of(code, node)
        ]
        return edited(program, edits, "hist(x=…) is now plot.hist of this column")
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
    return edited(program, edits, "hist is now plot.hist")


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


def round_columns(program: Program) -> Fix | None:
    """``f"{means:.2f}"`` of a whole column: rounding works for columns and single numbers alike."""
    tree, code, error = program.tree, program.code, program.error
    if error.line is None or not _FORMAT.search(error.evalue):
        return None
    lines = code.split("\n")
    statement = statement_at(tree, error.line)
    if statement is None:
        return None
    for at in range(statement.lineno - 1, statement.end_lineno or statement.lineno):
        lines[at] = _PLACEHOLDER.sub(r"{np.round(\1, \2)}", lines[at])
    fixed = with_imports("\n".join(lines), program.names)
    return Fix(code=fixed, notes=("a column is rounded, not formatted",))


def root_of_squared(program: Program) -> Fix | None:
    """``mean_squared_error(a, b, squared=False)`` was the root until scikit-learn 1.6."""
    tree, code, error = program.tree, program.code, program.error
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
    return edited(program, edits, note)


def coerce_numbers(program: Program) -> Fix | None:
    """``x.astype(float, errors="coerce")``: only `pd.to_numeric` has this."""
    tree, code, error = program.tree, program.code, program.error
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
    return edited(program, edits, "astype with coerce is pd.to_numeric", imports=True)


def list_of_columns(program: Program) -> Fix | None:
    """``df.groupby("g")["a", "b"]`` was a list of columns before pandas 2."""
    tree, code, error = program.tree, program.code, program.error
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
    return edited(program, edits, "columns of groups are taken by a list")


def bind_in_order(program: Program) -> Fix | None:
    """``a, b = df.head(9), df.drop(a.index)``: both sides are computed before either is bound."""
    tree, code, error = program.tree, program.code, program.error
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
    return edited(program, edits, f"{missing} is bound before it is used")


def extreme_of_number(program: Program) -> Fix | None:
    """``most = x.max()``, ``most.idxmax()``: where the largest value is, not the largest of one number."""
    tree, code, error = program.tree, program.code, program.error
    if not re.search(r"(?:float|int)\d*' object has no attribute 'idx(?:max|min)'", error.evalue):
        return None
    values = single_values(tree)
    edits, called = [], ""
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
                            called = name
                            edits.append(Edit(start=start, end=end, text=text if is_one else f"({text})"))
    return edited(program, edits, f"`{called}()` now applies to the whole Series, not to its {called[3:]}imum")


def label_as_position(program: Program) -> Fix | None:
    """``df.columns[x.idxmax()]``: `idxmax` gives the label itself."""
    tree, code, error = program.tree, program.code, program.error
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
    return edited(program, edits, "idxmax and idxmin give the label itself")


def colour_codes(program: Program) -> Fix | None:
    """``scatter(c=names)``: matplotlib wants numbers, a category's codes colour the groups."""
    tree, code, error = program.tree, program.code, program.error
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
    return edited(program, edits, "colour now uses category codes")
