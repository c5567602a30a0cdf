"""What models learned from pandas 1-2 and NumPy 1 that is gone in pandas 3 and NumPy 2.

Measured: 65 of 866 reference solutions of DS-1000 (7.5 %), written by people, fail on pandas 3.1 / NumPy 2.4 for
reasons of this table. What is renamed is certain in every version that this package runs with and
is applied before the code runs; the rest is offered to the model as a hint.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jupyter_codeagent.agent.rules.rule import Fix, Program, edited
from jupyter_codeagent.agent.source import Edit, span

NUMPY_RENAMED = {
    "NaN": "nan", "NAN": "nan", "Inf": "inf", "Infinity": "inf", "infty": "inf", "PINF": "inf",
    "in1d": "isin", "product": "prod", "cumproduct": "cumprod", "alltrue": "all", "sometrue": "any",
    "float_": "float64", "complex_": "complex128", "bool8": "bool_", "object0": "object_", "unicode_": "str_",
}  # fmt: skip
"""Attribute of NumPy 1 -> the one that both have."""

NUMPY_BUILTINS = frozenset({"float", "int", "object", "str"})
"""``np.float`` was the builtin itself; gone since NumPy 1.24."""

METHODS_RENAMED = {"applymap": "map", "iteritems": "items", "is_monotonic": "is_monotonic_increasing"}
"""Attribute of a frame or series of pandas 1-2 -> the one that pandas 2.1 and 3 have."""

FREQUENCIES = {
    "M": "ME", "Q": "QE", "Y": "YE", "A": "YE", "BM": "BME", "BQ": "BQE", "BY": "BYE", "SM": "SME",
    "H": "h", "T": "min", "S": "s", "L": "ms", "U": "us", "N": "ns",
}  # fmt: skip
"""Offset aliases. Not renamed blindly: for periods ``M`` is still right."""

MAX_MESSAGE_CHARS = 500
"""Of an error message: what it says is at its beginning, and the rest may be anything."""
HINTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (r"'(?:DataFrame|Series)' object has no attribute 'append'", "use pd.concat([a, b])"),
        (r"has no attribute '(?:applymap)'", "use .map()"),
        (r"has no attribute '(?:iteritems)'", "use .items()"),
        (r"has no attribute 'ix'", "use .loc or .iloc"),
        (r"has no attribute '(?:get_value|set_value)'", "use .at[row, column]"),
        (r"has no attribute 'lookup'", "use .to_numpy() with row and column positions"),
        (r"has no attribute 'mad'", "use (x - x.mean()).abs().mean()"),
        (r"'DataFrame' object has no attribute 'value'", "use .to_numpy()"),
        (r"module 'pandas' has no attribute 'datetime'", "use pd.Timestamp, or from datetime import datetime"),
        (r"module 'pandas' has no attribute 'value_counts'", "use x.value_counts()"),
        (r"module 'pandas' has no attribute '(?:Int64Index|Float64Index|UInt64Index)'", "use pd.Index"),
        (r"module 'numpy' has no attribute 'trapz'", "use np.trapezoid"),
        (r"unexpected keyword argument 'delim_whitespace'", r"use sep=r'\s+'"),
        (r"fillna\(\) got an unexpected keyword argument 'method'", "use .ffill() or .bfill()"),
        (r"replace\(\) got an unexpected keyword argument 'method'", "use .ffill() or .bfill()"),
        (r"set_axis\(\) got an unexpected keyword argument 'inplace'", "assign the result: df = df.set_axis(...)"),
        (
            r"got an unexpected keyword argument '(?:title|xlabel|ylabel)'",
            "set it afterwards: plt.title(...), plt.xlabel(...)",
        ),
        (
            r"'c' argument must be a color",
            "plot each group: for name, part in df.groupby(column): plt.scatter(..., label=name)",
        ),
        (r"got an unexpected keyword argument 'inplace'", "assign the result instead of inplace=True"),
        (r"drop\(\) takes from 1 to 2 positional", "use drop(columns=...) or drop(index=...)"),
        (r"r?split\(\) takes from 1 to 2 positional", "name the argument: n=1"),
        (r"takes from 1 to 2 positional arguments but", "name the arguments after the first"),
        (r"for Period, please use '(\w+)'", "periods take 'M', 'Q', 'Y'"),
        (r"Cannot perform reduction .* with string dtype", "choose numeric columns or pass numeric_only=True"),
        (r"does not support operation '\w+'", "choose numeric columns or pass numeric_only=True"),
        (r"[Cc]ould not convert string to float", "the column holds text: pd.to_numeric(x, errors='coerce')"),
        (r"Can only use \.dt accessor", "convert first: pd.to_datetime(x)"),
        (r"Can only use \.str accessor", "convert first: x.astype(str)"),
        (r"Invalid value .* for dtype", "convert the column first: x.astype(object) or x.astype(float)"),
        (r"read-only", "work on a copy: x = x.copy()"),
        (r"truth value of a (?:Series|DataFrame|array)", "combine conditions with & and |, each in parentheses"),
        (r"cannot reindex on an axis with duplicate labels", "use .reset_index(drop=True) before"),
        (r"not supported for dtype 'str'", "leave text columns out first: df.select_dtypes('number')"),
        (r"cannot convert (?:float NaN|NA) to integer", "drop or fill missing values first: .dropna()"),
        (r"Cannot convert non-finite values", "drop or fill missing values first: .dropna()"),
        (
            r"Input (?:X|y) contains NaN|inconsistent numbers of samples",
            "drop rows of features and target together first: data = df[[...]].dropna()",
        ),
        (r"array must not contain infs or NaNs", "drop missing values first: .dropna()"),
        (r"not supported between instances of 'str'", "convert the column first: pd.to_numeric(x)"),
        (r"must be str, not|can only concatenate str", "convert first: x.astype(str)"),
        (r"cannot insert .*, already exists", "use .reset_index(name='n') or drop=True"),
        (r"Length of values|Length mismatch|must be of the same length", "the lengths differ: check .shape"),
        (r"operands could not be broadcast", "the shapes differ: check .shape of both sides"),
        (r"'(?:DataFrame|Series)GroupBy' object has no attribute", "aggregate first: .mean(), .sum(), .size()"),
        (r"'Series' object has no attribute 'corrwith'", "use x.corr(y)"),
        (
            r"'(?:OLS|Regression)Results\w*' object has no attribute '(?:intercept|slope|coef|coefficients)_?'",
            "they are in .params: the intercept is params['const'], a slope params[column]",
        ),
        (r"'(?:OLS|Regression)Results\w*' object has no attribute 'p_?values?'", "use .pvalues"),
        (r"'LinearRegression' object has no attribute '(?:slope|coef|intercept)'", "use .coef_ and .intercept_"),
        (
            r"DataFrame\.sort_values\(\) missing 1 required positional argument: 'by'",
            "name the column to sort by; of a table of pairs: .stack().sort_values()",
        ),
        (
            r"'(?:numpy\.)?(?:float|int)\w*' object has no attribute",
            "this is a single number already: aggregate by group first, df.groupby(key)[column].mean()",
        ),
        (r"'(?:numpy\.)?(?:float|int)\w*' object is not", "this is a single number already"),
        (r"object is not callable", "this is no function: leave the parentheses out"),
    )
)
"""(pattern of ``ename: evalue``, what to do); the first that matches counts."""


def known_error_hint(message: str) -> str:
    """Return what to do about an error message, if the table has it; else empty."""
    begin = message[:MAX_MESSAGE_CHARS]
    return next((hint for pattern, hint in HINTS if pattern.search(begin)), "")


def modern_names(program: Program) -> Fix | None:
    """Write today's names for those that pandas 3 and NumPy 2 have removed, where only one can be meant."""
    code = program.code
    edits = [edit for node in ast.walk(program.tree) for edit in _modern(code, node)]
    return edited(program, edits, *(f"{code[edit.start : edit.end]} is now {edit.text}" for edit in edits))


def _modern(code: str, node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name) if name in NUMPY_BUILTINS:
            start, end = span(code, node)
            yield Edit(start=start, end=end, text=name)
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name) if name in NUMPY_RENAMED:
            _, end = span(code, node)
            yield Edit(start=end - len(name), end=end, text=NUMPY_RENAMED[name])
        case ast.Attribute(attr=name) if name in METHODS_RENAMED:
            _, end = span(code, node)
            yield Edit(start=end - len(name), end=end, text=METHODS_RENAMED[name])
        case ast.Call(
            func=ast.Attribute(attr="fillna") as function, args=[], keywords=[ast.keyword(arg="method") as keyword]
        ):
            yield from _filled(code, node, function, keyword)


def _filled(code: str, call: ast.expr, function: ast.Attribute, keyword: ast.keyword) -> Iterator[Edit]:
    methods = {"ffill": "ffill", "pad": "ffill", "bfill": "bfill", "backfill": "bfill"}
    match keyword.value:
        case ast.Constant(value=str(method)) if method in methods:
            _, name_end = span(code, function)
            _, end = span(code, call)
            yield Edit(start=name_end - len("fillna"), end=end, text=f"{methods[method]}()")
