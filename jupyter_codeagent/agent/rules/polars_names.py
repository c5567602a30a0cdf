"""Translate unambiguous pandas calls to polars, all at once.

Models know a hundred times more pandas than polars. The error of the first wrong word tells that the frame is of
polars; where pandas frames stand beside it, nothing is certain and the model gets a hint.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from jupyter_codeagent.agent.known_imports import with_imports
from jupyter_codeagent.agent.rules.rule import Fix, Program
from jupyter_codeagent.agent.rules.words import AGGREGATIONS, FIRST_AND_LAST
from jupyter_codeagent.agent.source import Edit, apply_edits, called_name, parse, span, text_of
from jupyter_codeagent.types.sandbox import NamespaceEntry

MAX_EDITS = 40
SHORT_CHARS = 20
METHODS = {
    "groupby": "group_by", "with_column": "with_columns", "dropna": "drop_nulls", "fillna": "fill_null",
    "isnull": "is_null", "isna": "is_null", "notnull": "is_not_null", "notna": "is_not_null", "nunique": "n_unique",
    "drop_duplicates": "unique", "isin": "is_in", "tolist": "to_list", "idxmax": "arg_max", "idxmin": "arg_min",
    "iterrows": "iter_rows", "to_dict": "to_dicts", "cumsum": "cum_sum", "cummax": "cum_max", "cummin": "cum_min",
    "duplicated": "is_duplicated", "between": "is_between",
}  # fmt: skip
"""Method of pandas -> that of polars which does the same with the same arguments."""
TEXT_METHODS = {
    "lower": "to_lowercase", "upper": "to_uppercase", "title": "to_titlecase", "strip": "strip_chars",
    "lstrip": "strip_chars_start", "rstrip": "strip_chars_end", "len": "len_chars", "startswith": "starts_with",
    "endswith": "ends_with",
}  # fmt: skip
"""Of ``x.str``."""
_OF_GROUPS = AGGREGATIONS | FIRST_AND_LAST | {"n_unique"}
DATE_PARTS = frozenset(
    {"year", "month", "day", "hour", "minute", "second", "quarter", "week", "weekday", "date", "time"}
)
MASKS = frozenset(
    {"is_null", "is_not_null", "is_in", "is_between", "is_duplicated", "is_unique", "contains", "starts_with"}
    | {"ends_with", "isnull", "isna", "notnull", "notna", "isin", "between", "duplicated", "startswith", "endswith"}
)
"""Methods that give one truth value for each row."""
_OTHER_NAMES = frozenset(
    {"sort_values", "merge", "size", "reset_index", "nlargest", "nsmallest", "corr", "lower", *TEXT_METHODS}
)
_MISSING = re.compile(
    r"'(?:DataFrame|Series|GroupBy|LazyFrame|LazyGroupBy|Expr|StringNameSpace)' object has no attribute '(\w+)'"
)
_REFUSED = re.compile(
    r"'GroupBy' object is not subscriptable|specifying aggregations as a dictionary is not supported|"
    r"does not support `?Series`? assignment by index|rename\(\) got an unexpected keyword argument 'columns'|"
    r"unsupported operand type\(s\) for \S+: 'method'|'method' and '|when selecting columns by boolean mask|"
    r"boolean mask to `__getitem__` is not supported"
)
_POLARS_TYPES = re.compile(
    r"^(?:U?Int\d+|Float\d+|String|Utf8|Boolean|Date|Datetime|Duration|Categorical|List|Null)\b"
)
_PANDAS_TYPES = re.compile(r"^(?:u?int\d+|float\d+|object|str|string|bool|category|datetime64|timedelta64)")

Translate = Callable[[str, ast.AST], Edit | None]


def translate_to_polars(program: Program) -> Fix | None:
    """Replace all names that polars has others for; None if the error has another cause."""
    code, error, namespace = program.code, program.error, program.namespace
    match = _MISSING.search(error.evalue)
    named = match is not None and match.group(1) in METHODS.keys() | _OTHER_NAMES
    if not (named or _REFUSED.search(error.evalue)) or not _only_polars(namespace):
        return None
    said: dict[str, None] = {}
    for _ in range(MAX_EDITS):  # one edit may lie within another, so one at a time
        current = parse(code)
        edit = _first_edit(code, current) if current is not None else None
        if edit is None:
            break
        said[_word(code[edit.start : edit.end])] = None
        code = apply_edits(code, [edit])
    if not said:
        return None
    return Fix(
        code=with_imports(code, program.names),
        notes=(f"translated to polars: {', '.join(word for word in said if word)}",),
    )


def _only_polars(namespace: Sequence[NamespaceEntry]) -> bool:
    types = [dtype for entry in namespace if entry.columns for dtype in entry.dtypes]
    return any(map(_POLARS_TYPES.match, types)) and not any(map(_PANDAS_TYPES.match, types))


def _first_edit(code: str, tree: ast.Module) -> Edit | None:
    for node in ast.walk(tree):
        for translate in TRANSLATIONS:
            if (edit := translate(code, node)) is not None:
                return edit
    return None


def _word(text: str) -> str:
    """Return the last name of a replaced text, for the note."""
    names = re.findall(r"[A-Za-z_]+", text)
    calls = re.findall(r"\.(\w+)\(", text)
    return str(names[-1] if names and len(text) <= SHORT_CHARS else calls[0] if calls else "")


def _method(code: str, node: ast.AST) -> Edit | None:
    match node:
        case ast.Attribute(value=ast.Attribute(attr="str"), attr=name) if name in TEXT_METHODS:
            new = TEXT_METHODS[name]
        case ast.Attribute(attr=name) if name in METHODS:
            new = METHODS[name]
        case _:
            return None
    _, end = span(code, node)
    return Edit(start=end - len(name), end=end, text=new)


def _sort(code: str, node: ast.AST) -> Edit | None:
    """``sort_values("x", ascending=False)``."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="sort_values"), args=args, keywords=keywords):
            words = {word.arg: word.value for word in keywords}
            by = args[0] if args else words.get("by")
            order = words.get("ascending")
            given = [text_of(code, by)] if by is not None else []
            match order:
                case ast.Constant(value=bool(ascending)):
                    given += [] if ascending else ["descending=True"]
                case None:
                    pass
                case _:
                    return None
            start, end = span(code, node)
            return Edit(start=start, end=end, text=f"{text_of(code, owner)}.sort({', '.join(given)})")
    return None


def _column_of_groups(code: str, node: ast.AST) -> Edit | None:
    """``df.group_by("g")["x"].mean()`` and ``df.group_by("g").x.mean()``."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Subscript(value=ast.Call() as groups, slice=columns), attr=name)
        ):
            labels = _labels(columns)
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Call() as groups, attr=label), attr=name)):
            labels = [repr(label)]
        case _:
            return None
    if called_name(groups)[1] != "group_by" or not labels or name not in _OF_GROUPS or node.args:
        return None
    start, end = span(code, node)
    made = f"pl.col({', '.join(labels)}).{METHODS.get(name, name)}()"
    return Edit(start=start, end=end, text=f"{text_of(code, groups)}.agg({made})")


def _labels(node: ast.expr) -> list[str]:
    constants = node.elts if isinstance(node, ast.List) else [node]
    labels = [repr(one.value) for one in constants if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return labels if len(labels) == len(constants) else []


def _aggregations(code: str, node: ast.AST) -> Edit | None:
    """``group_by("g").agg({"x": "mean"})`` and ``.agg(n=("x", "count"))``."""
    match node:
        case ast.Call(func=ast.Attribute(value=groups, attr="agg"), args=[ast.Dict(keys=keys, values=values)]):
            made = [_aggregation(key, value) for key, value in zip(keys, values, strict=True)]
        case ast.Call(func=ast.Attribute(value=groups, attr="agg"), args=[], keywords=[_, *_] as keywords):
            pairs = [(word.arg, word.value) for word in keywords]
            made = [
                f"{_aggregation(value.elts[0], value.elts[1])}.alias({name!r})"
                if isinstance(value, ast.Tuple) and len(value.elts) == 2 and _aggregation(*value.elts)
                else ""
                for name, value in pairs
            ]
        case _:
            return None
    if not made or not all(made):
        return None
    start, end = span(code, node)
    return Edit(start=start, end=end, text=f"{text_of(code, groups)}.agg({', '.join(made)})")


def _aggregation(column: ast.expr | None, function: ast.expr) -> str:
    match column, function:
        case ast.Constant(value=str(label)), ast.Constant(value=str(name)) if name in _OF_GROUPS:
            return f"pl.col({label!r}).{METHODS.get(name, name)}()"
    return ""


def _size(code: str, node: ast.AST) -> Edit | None:
    """``group_by("g").size()``."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call() as groups, attr="size"), args=[]):
            if called_name(groups)[1] == "group_by":
                _, end = span(code, node.func)
                return Edit(start=end - len("size"), end=end, text="len")
    return None


def _index(code: str, node: ast.AST) -> Edit | None:
    """``.reset_index()``: there is no index to reset. A name given with it is that of the counts."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="reset_index"), keywords=keywords):
            names = [word.value for word in keywords if word.arg == "name"]
            named = f'.rename({{"len": {text_of(code, names[0])}}})' if names else ""
            start, end = span(code, node)
            return Edit(start=start, end=end, text=f"{text_of(code, owner)}{named}")
    return None


def _renamed_columns(code: str, node: ast.AST) -> Edit | None:
    match node:
        case ast.Call(
            func=ast.Attribute(attr="rename") as called, keywords=[ast.keyword(arg="columns", value=names)]
        ):
            start, end = span(code, node)
            return Edit(start=start, end=end, text=f"{text_of(code, called)}({text_of(code, names)})")
    return None


def _joined(code: str, node: ast.AST) -> Edit | None:
    """``a.merge(b, on="k", how="left")``; ``pd.merge`` takes pandas frames only."""
    match node:
        case ast.Call(func=ast.Attribute(attr="merge") as called, args=[_], keywords=keywords):
            if {word.arg for word in keywords} <= {"on", "how", "left_on", "right_on"} and keywords:
                _, end = span(code, called)
                return Edit(start=end - len("merge"), end=end, text="join")
    return None


def _new_column(code: str, node: ast.AST) -> Edit | None:
    """``df["new"] = values``."""
    match node:
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Name(id=frame), slice=ast.Constant(value=str(label)))], value=value
        ):
            start, end = span(code, node)
            return Edit(
                start=start,
                end=end,
                text=f"{frame} = {frame}.with_columns(({text_of(code, value)}).alias({label!r}))",
            )
    return None


def _filtered(code: str, node: ast.AST) -> Edit | None:
    """``df[df["x"] > 1]``: in brackets a mask chooses columns, not rows."""
    match node:
        case ast.Subscript(value=ast.Name(id=frame), slice=mask, ctx=ast.Load()) if _is_mask(mask):
            start, end = span(code, node)
            return Edit(start=start, end=end, text=f"{frame}.filter({text_of(code, mask)})")
    return None


def _is_mask(node: ast.expr) -> bool:
    match node:
        case ast.Compare(left=ast.Subscript() | ast.Attribute() | ast.Call()):
            return True
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
            return _is_mask(left) and _is_mask(right)
        case ast.UnaryOp(op=ast.Invert(), operand=inner):
            return _is_mask(inner)
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in MASKS
    return False


def _most(code: str, node: ast.AST) -> Edit | None:
    """``nlargest(3, "x")``."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="nlargest" | "nsmallest" as name), args=[count, *rest]):
            by = f", by={text_of(code, rest[0])}" if rest else ""
            start, end = span(code, node)
            new = "top_k" if name == "nlargest" else "bottom_k"
            return Edit(start=start, end=end, text=f"{text_of(code, owner)}.{new}({text_of(code, count)}{by})")
    return None


def _correlation(code: str, node: ast.AST) -> Edit | None:
    """``df["a"].corr(df["b"])`` of one frame."""
    match node:
        case ast.Call(
            func=ast.Attribute(
                value=ast.Subscript(value=ast.Name(id=frame), slice=ast.Constant(value=str(first))), attr="corr"
            ),
            args=[ast.Subscript(value=ast.Name(id=other), slice=ast.Constant(value=str(second)))],
            keywords=[],
        ) if frame == other:
            start, end = span(code, node)
            return Edit(start=start, end=end, text=f"{frame}.select(pl.corr({first!r}, {second!r})).item()")
    return None


def _date_part(code: str, node: ast.AST) -> Edit | None:
    """``x.dt.year`` is a method. Where it is called already, the call is looked at, not what it calls."""
    match node:
        case ast.Attribute(value=ast.Attribute(attr="dt"), attr=name) if name in DATE_PARTS:
            _, end = span(code, node)
            if not code[end:].lstrip().startswith("("):
                return Edit(start=end - len(name), end=end, text=f"{name}()")
    return None


TRANSLATIONS: tuple[Translate, ...] = (
    _method, _sort, _column_of_groups, _aggregations, _size, _index, _renamed_columns, _joined, _new_column,
    _filtered, _most, _correlation, _date_part,
)  # fmt: skip
