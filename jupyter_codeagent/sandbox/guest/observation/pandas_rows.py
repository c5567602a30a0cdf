"""Calls of pandas that keep, order or repeat rows: filters, cuts, sorting, duplicates."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from .call import Call, Operation, Repeats
from .comparisons import add_comparison, keep_compared
from .hooks import SUBSCRIPT
from .keys import MAX_UNIQUE, add_variants, near_misses
from .pandas_columns import (
    OBJECT_NS,
    PLAIN_NS,
    add_missing,
    add_numbers_as_text,
    is_grouping,
    is_text,
    label_of,
    show_rows,
    value_counts,
)
from .pandas_values import columns_changed

_COMPARED = re.compile(r"(?:`([^`\n]{1,60})`|\b(\w{1,60})) {0,4}(==|!=|<=|>=|<|>) {0,4}['\"]([^'\"\n]{0,200})['\"]")
"""A column of a query compared with a text, in backticks or not."""


def is_mask(key: Any) -> bool:
    """Check whether a key keeps rows by true and false."""
    import pandas as pd

    dtype = getattr(key, "dtype", None)
    if dtype is not None and not isinstance(key, pd.DataFrame):
        return bool(pd.api.types.is_bool_dtype(dtype))
    return isinstance(key, list) and bool(key) and all(isinstance(item, bool) for item in key)


def filtered(call: Call, frame: Any, mask: Any) -> Operation:
    """Observe a selection by a mask, such as the result of a comparison, with the first rows that it leaves out."""
    import numpy as np
    import pandas as pd

    one = call.operation("filter", frame, call.result)
    _clear_repeats(call, call.result)
    if len(mask) == len(frame) and call.budget.allows(len(frame), PLAIN_NS * 5):
        kept = pd.Series(mask).to_numpy(dtype=bool, na_value=False)
        show_rows(one, "rows left out", frame, np.flatnonzero(~kept)[:5])
    return one


def _clear_repeats(call: Call, result: Any) -> None:
    """Forget what a join has repeated where only one of the repeated rows is kept, as by the time of a price."""
    import pandas as pd

    labels = [label for label in getattr(result, "columns", ()) if str(label) in call.origin.repeated]
    if labels and isinstance(result, pd.DataFrame) and call.budget.allows(len(result) * len(labels), PLAIN_NS * 20):
        by_side: dict[frozenset[str], list[Any]] = {}
        for label in labels:
            by_side.setdefault(call.origin.repeated[str(label)].told_by, []).append(label)
        if any(len(side) > 1 and not result.duplicated(side).any() for side in by_side.values()):
            call.origin = replace(call.origin, repeated={})


def _fewer_rows(call: Call, _: Any) -> Operation | None:
    """Observe `query`, `truncate`, `between_time`, `drop`: rows may be left out."""
    frame, result = call.receiver, call.result
    if not hasattr(result, "shape") or not hasattr(frame, "shape"):
        return None
    one = call.operation("filter", frame, result)
    _clear_repeats(call, result)
    if call.site.name == "drop" and (one.rows is None or one.rows[0] == one.rows[1]):
        return columns_changed(call)
    _show_missing_rows(call, one)
    if call.site.name == "query" and isinstance(expression := call.get("expr", 0), str):
        _add_comparisons(call, one, expression)
    return one


def _add_comparisons(call: Call, one: Operation, expression: str) -> None:
    """Add what the comparisons with texts in a query can hardly mean."""
    for quoted, plain, operator, wanted in _COMPARED.findall(expression)[:10]:
        label = quoted or plain
        if label in call.receiver.columns and call.budget.allows(len(call.receiver), OBJECT_NS):
            add_comparison(one, call.receiver[label], operator, wanted)


def _show_missing_rows(call: Call, one: Operation) -> None:
    """Show the first rows of the receiver that are not in the result; by index, where it is unique."""
    import numpy as np

    frame, result = call.receiver, call.result
    if (
        one.rows is not None
        and one.rows[0] != one.rows[1]
        and call.budget.allows(len(frame), 40)
        and frame.index.is_unique
    ):
        show_rows(one, "rows left out", frame, np.flatnonzero(~frame.index.isin(result.index))[:5])


def _dropna(call: Call, _: Any) -> Operation | None:
    import pandas as pd

    frame, result = call.receiver, call.result
    if not isinstance(frame, pd.DataFrame | pd.Series):
        return None
    one = call.operation("drop_missing", frame, result)
    if isinstance(frame, pd.Series) and len(result) < len(frame):
        one.add("missing", len(frame) - len(result), len(frame), label_of(frame) or "a value")
    if isinstance(frame, pd.DataFrame) and one.rows is not None and one.rows[0] != one.rows[1]:
        subset = call.get("subset")
        labels = [subset] if isinstance(subset, str) else list(frame.columns) if subset is None else list(subset)
        add_missing(call, one, frame[labels], "missing")
        if subset is None and call.get("how") != "all" and call.get("thresh") is None:
            _add_dropped_for(call, one, frame)
    _show_missing_rows(call, one)
    return one


def _add_dropped_for(call: Call, one: Operation, frame: Any) -> None:
    """Add the rows that are left out for the sake of one column alone; the host knows whether it is used."""
    import numpy as np

    if frame.columns.is_unique and call.budget.allows(frame.size, PLAIN_NS * 5):
        missing = frame.isna().to_numpy()
        alone = missing & (missing.sum(axis=1) == 1)[:, np.newaxis]
        for at in np.flatnonzero(alone.any(axis=0))[:6]:
            one.add("dropped_for", int(alone[:, at].sum()), len(frame), frame.columns[at])


def _drop_duplicates(call: Call, _: Any) -> Operation | None:
    one = call.operation("deduplicate", call.receiver, call.result)
    call.origin = replace(call.origin, repeated={})
    subset = call.get("subset", 0)
    labels = [subset] if isinstance(subset, str) else subset
    labels = list(labels) if hasattr(call.result, "columns") and isinstance(labels, list | tuple) else []
    if labels and call.budget.allows(len(call.receiver) * len(labels), OBJECT_NS * 2):
        before, after = (int(frame[labels].isna().all(axis=1).sum()) for frame in (call.receiver, call.result))
        if before > after:
            one.add("keyless", before - after, before, ", ".join(map(str, labels)))
    for label in labels:
        column = call.result[label]
        if hasattr(column, "dtype") and is_text(column) and call.budget.allows(len(column), OBJECT_NS * 5):
            add_variants(one, label_of(column), column)
    _show_missing_rows(call, one)
    return one


def _head(call: Call, _: Any) -> Operation | None:
    receiver = call.receiver
    return cut(call, receiver.obj if is_grouping(receiver) else receiver)


def cut(call: Call, frame: Any) -> Operation | None:
    """Observe a part of the rows: ties where the order was asked for, else a part that may be taken for all."""
    import pandas as pd

    result = call.result
    if not isinstance(frame, pd.DataFrame | pd.Series) or not isinstance(result, pd.DataFrame | pd.Series):
        return None
    one = call.operation("cut", frame, result)
    kept, rows = len(result), len(frame)
    if kept >= rows:
        return None
    is_ordered = bool(call.origin.sorted_by)
    if call.site.name in ("head", "tail", SUBSCRIPT) and is_ordered and kept:
        _add_ties(call, one, frame, result, call.origin.sorted_by)
    call.keep_cut(kept, rows)
    return one


def _add_ties(call: Call, one: Operation, frame: Any, result: Any, labels: tuple[str, ...]) -> None:
    """Add the rows beyond the cut that are equal to the last row before it."""
    import pandas as pd

    if not call.budget.allows(len(frame), 10 * len(labels)):
        return
    if isinstance(frame, pd.DataFrame) and not set(labels) <= set(frame.columns):
        return
    last = result.iloc[0 if call.site.name == "tail" else -1]
    beyond = _equal_rows(frame, last, labels) - _equal_rows(result, last, labels)
    if beyond > 0:
        one.add("ties", beyond, label=", ".join(label for label in labels if label))


def _equal_rows(frame: Any, last: Any, labels: tuple[str, ...]) -> int:
    import numpy as np
    import pandas as pd

    if isinstance(frame, pd.Series):
        return int((frame == last).sum())
    equal = np.ones(len(frame), dtype=bool)
    for label in labels:
        equal &= (frame[label] == last[label]).to_numpy(dtype=bool, na_value=False)
    return int(equal.sum())


def _explode(call: Call, _: Any) -> Operation | None:
    """Observe `explode`: the other columns are repeated, which a figure for each exploded value does not mind."""
    import pandas as pd

    frame, result, label = call.receiver, call.result, call.get("column", 0)
    one = call.operation("reshape", frame, result)
    if isinstance(frame, pd.DataFrame) and isinstance(label, str) and len(result) > len(frame):
        more = (len(result) - len(frame), len(frame))
        repeats = Repeats(frozenset({label}), more)
        others = dict.fromkeys((str(name) for name in frame.columns if name != label), repeats)
        call.origin = replace(call.origin, repeated=others, repeats=more)
    return one


def _nlargest(call: Call, _: Any) -> Operation | None:
    import pandas as pd

    frame, result = call.receiver, call.result
    if not isinstance(frame, pd.DataFrame | pd.Series) or not isinstance(result, pd.DataFrame | pd.Series):
        return None
    one = call.operation("cut", frame, result)
    columns = call.get("columns", 1)
    labels = (columns,) if isinstance(columns, str) else tuple(columns or ("",))
    if isinstance(frame, pd.Series):
        labels = ("",)
    call.origin = replace(call.origin, sorted_by=labels, part="")
    call.keep_cut(len(result), len(frame))
    if 0 < len(result) < len(frame) and call.get("keep") != "all":
        _add_ties(call, one, frame, result, labels)
    return one if len(result) < len(frame) else None


def _sort_values(call: Call, _: Any) -> Operation | None:
    import pandas as pd

    frame = call.receiver
    if not isinstance(frame, pd.DataFrame | pd.Series):
        return None
    by = call.get("by", 0)
    labels = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, list | tuple) else ("",)
    if isinstance(frame, pd.Series):
        labels = ("",)
    call.origin = replace(call.origin, sorted_by=labels)
    one = call.operation("sort", frame, call.result)
    for column in [frame] if isinstance(frame, pd.Series) else [frame[label] for label in labels if label in frame]:
        add_numbers_as_text(one, column)
    return one if one.facts else None


def _isin(call: Call, _: Any) -> Operation | None:
    import pandas as pd

    keep_compared(call)
    column, wanted = call.receiver, call.get("values", 0)
    if (
        isinstance(column, pd.Series)
        and isinstance(wanted, list | tuple | set | pd.Series | pd.Index)
        and len(wanted) <= MAX_UNIQUE
        and is_text(column)
        and call.budget.allows(len(column), OBJECT_NS)
    ):
        one = call.operation("comparison")
        is_literal = isinstance(wanted, list | tuple | set)
        near_misses(one, label_of(column), value_counts(column), tuple(wanted), are_literal=is_literal)
        return one if one.facts else None
    return None


HANDLERS = {
    **dict.fromkeys(("query", "truncate", "between_time", "drop", "filter"), _fewer_rows),
    **dict.fromkeys(("head", "tail", "sample", "first", "last"), _head),
    **dict.fromkeys(("nlargest", "nsmallest"), _nlargest),
    "dropna": _dropna,
    "drop_duplicates": _drop_duplicates,
    "sort_values": _sort_values,
    "isin": _isin,
    "explode": _explode,
}
