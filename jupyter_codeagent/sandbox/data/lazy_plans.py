"""Lazy values over local files, as plans that a sandbox can run: the plan itself, and which files it reads.

Nothing is run and no file is read here: a plan is analysed as data. In the plan for the sandbox every path is
absolute, without links, patterns or directories, since the sandbox sees the files by these names and cannot list
directories.
"""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.sandbox.data.condition import Condition
from jupyter_codeagent.sandbox.data.local_files import expand_path
from jupyter_codeagent.sandbox.data.subset import PolarsColumns, SubsetRequest
from jupyter_codeagent.types.errors import VariableError
from jupyter_codeagent.types.variables import LocalFile

EXTENSIONS = {
    "Parquet": (".parquet", ".pq"),
    "Csv": (".csv", ".tsv", ".txt", ".csv.gz", ".csv.zst"),
    "Ipc": (".arrow", ".ipc", ".feather"),
    "NDJson": (".ndjson", ".jsonl", ".json"),
}
PYTHON_STEPS = ("PythonScan", "AnonymousFunction", "OpaquePython", "AnonymousAgg", "PythonUdf")
"""Steps of polars plans that hold a pickled function of the user's."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A lazy value in a form that the sandbox can run."""

    value: Any
    """The object that is pickled in its place; unpickles to a value of the user's type."""
    type_name: str
    files: tuple[LocalFile, ...] = ()
    note: str = ""
    """Which rows or columns were selected."""
    columns: tuple[tuple[str, Any], ...] = ()
    """(name, type of its library), from the metadata of the files; empty where the value has no columns."""


Planner = Callable[[str, Any, SubsetRequest, int], Plan]
"""(name, value, wanted, most bytes of parts in memory)"""


def is_lazy(value: object) -> bool:
    """Check for a lazy value of a kind that can be copied as a plan."""
    return _planner(value) is not None


def make_plan(name: str, value: Any, wanted: SubsetRequest, *, max_bytes: int) -> Plan:
    """Return the value as a plan.

    Raises
    ------
    VariableError
        If it cannot be one: a remote file, a function of the user's, a sample of what was never read …
    """
    planner = _planner(value)
    if planner is None:
        raise VariableError(f"{name!r} is a {type(value).__name__}, not a lazy value over files.")
    if wanted.sample is not None:
        raise VariableError(
            f"--sample would have to read all files of {name!r}; use --where or columns, which the files are asked "
            "for as they are read, or leave it out: the code queries the files without loading them."
        )
    return planner(name, value, wanted, max_bytes)


def _planner(value: object) -> Planner | None:
    kind = type(value)
    return PLANNERS.get((kind.__module__.partition(".")[0], kind.__name__))


# --- polars -----------------------------------------------------------------------------------------


def _polars_plan(name: str, lazy: Any, wanted: SubsetRequest, max_bytes: int) -> Plan:
    import polars as pl

    with warnings.catch_warnings():
        # JSON is deprecated because its layout depends on the version of polars, which is the same here.
        warnings.simplefilter("ignore")
        binary = lazy.serialize()
        if len(binary) > max_bytes:
            raise VariableError(
                f"{name!r} holds frames in memory, {len(binary) >> 20:,} MiB; the limit is {max_bytes >> 20:,} MiB."
            )
        plan = json.loads(lazy.serialize(format="json"))
        if not _is_exact(plan, binary):  # JSON has no NaN and no infinity, for one
            raise VariableError(f"{name!r} cannot be serialized exactly; collect what you need of it.")
        files = _bind_to_files(name, plan)
        bound = pl.LazyFrame.deserialize(io.StringIO(json.dumps(plan)), format="json")
    # The schema is read from the footers of the files, which the user's own kernel may read.
    bound, note = _lazy_subset(name, bound, wanted)
    columns = tuple(bound.collect_schema().items())
    return Plan(value=bound, type_name="LazyFrame", files=files, note=note, columns=columns)


def _is_exact(plan: Any, binary: bytes) -> bool:
    import polars as pl

    try:
        again = pl.LazyFrame.deserialize(io.StringIO(json.dumps(plan)), format="json")
    except pl.exceptions.PolarsError:
        return False
    return bool(again.serialize() == binary)


def _bind_to_files(name: str, plan: Any) -> tuple[LocalFile, ...]:
    """Replace the sources of the plan's scans by the files that exist now; changes `plan`."""
    files: dict[str, LocalFile] = {}
    for kind, step in _steps(plan):
        if kind in PYTHON_STEPS or "Python" in kind:
            raise VariableError(
                f"{name!r} has a step in Python ({kind}), which cannot be copied: use polars expressions, or "
                "collect it first."
            )
        if kind == "Scan":
            files.update((file.path, file) for file in _bind_scan(name, step))
    return tuple(files.values())


def _bind_scan(name: str, scan: dict[str, Any]) -> list[LocalFile]:
    sources = scan["sources"]
    if "Buffers" in sources:
        return []
    if set(sources) != {"Paths"}:
        raise VariableError(f"{name!r} reads from open files; scan them by their paths.")
    kind = next(iter(scan["scan_type"])) if isinstance(scan["scan_type"], dict) else str(scan["scan_type"])
    extensions = EXTENSIONS.get(kind)
    if extensions is None:
        raise VariableError(f"{name!r} scans {kind}, which cannot be copied; parquet, CSV, IPC and NDJSON can.")
    files: list[LocalFile] = []
    roots = set()
    options = scan["unified_scan_args"]
    for path in sources["Paths"]:
        text = path["inner"] if isinstance(path, dict) else path
        found, root = expand_path(name, text.removeprefix("file://"), extensions)
        files += found
        roots.add(root)
    hive = options["hive_options"]
    partitioned = any("=" in file.path[len(root) :].rpartition("/")[0] for root in roots for file in files)
    if partitioned and hive["enabled"] is not False:
        if len(roots) > 1:
            raise VariableError(f"{name!r} reads several partitioned directories; scan one of them.")
        hive.update(enabled=True, hive_start_idx=len(roots.pop()))
    sources["Paths"] = [{"inner": file.path} for file in files]
    options["glob"] = False
    # Cloud options are of no use in the sandbox, and may hold credentials.
    options["cloud_options"] = None
    return files


def _steps(node: Any) -> Iterator[tuple[str, Any]]:
    """Yield (kind, content) of each step and expression, without schemas: their keys are names of columns."""
    if isinstance(node, dict):
        for kind, content in node.items():
            if kind in ("schema", "fields", "hive_options", "cloud_options"):
                continue
            yield kind, content
            yield from _steps(content)
    elif isinstance(node, list) and not (node and isinstance(node[0], int)):
        for item in node:
            yield from _steps(item)


def _lazy_subset(name: str, lazy: Any, wanted: SubsetRequest) -> tuple[Any, str]:
    if not wanted:
        return lazy, ""
    schema = lazy.collect_schema()
    where = _applicable(wanted.where, list(schema))
    _require_columns(name, wanted, list(schema))
    if where is not None:
        lazy = lazy.filter(where.evaluate(PolarsColumns(schema)))
    if wanted.columns:
        lazy = lazy.select([column for column in schema if column in wanted.columns])
    return lazy, _note(where, wanted, len(schema))


# --- pyarrow ----------------------------------------------------------------------------------------


def _dataset_plan(name: str, dataset: Any, wanted: SubsetRequest, max_bytes: int) -> Plan:
    import pyarrow.dataset as ds
    from pyarrow.fs import LocalFileSystem

    if wanted:
        raise VariableError(f"{name!r} is a pyarrow Dataset, which the code can filter itself: leave --where out.")
    if type(dataset.filesystem) is not LocalFileSystem:
        kind = getattr(dataset.filesystem, "type_name", type(dataset.filesystem).__name__)
        raise VariableError(f"{name!r} reads over {kind}: the sandbox has no network. Download the files.")
    try:
        fragments = list(dataset.get_fragments())
    except ValueError as problem:
        raise VariableError(f"{name!r} was filtered, and such a Dataset cannot be copied: {problem}") from problem
    files = [file for path in dataset.files for file in expand_path(name, path, ())[0]]
    columns = tuple((field.name, field.type) for field in dataset.schema)
    bound = ds.FileSystemDataset.from_paths(
        [file.path for file in files],
        schema=dataset.schema,
        format=dataset.format,
        filesystem=LocalFileSystem(),
        partitions=[fragment.partition_expression for fragment in fragments],
        root_partition=dataset.partition_expression,
    )
    return Plan(value=bound, type_name="FileSystemDataset", files=tuple(files), columns=columns)


# --- DuckDB -----------------------------------------------------------------------------------------


def _relation_plan(name: str, relation: Any, wanted: SubsetRequest, max_bytes: int) -> Plan:
    from jupyter_codeagent.sandbox.data.duckdb_plan import relation_plan

    _leave_out(name, "DuckDB relation", wanted)
    value, files = relation_plan(name, relation)
    columns = tuple(zip(relation.columns, relation.types, strict=True))
    return Plan(value=value, type_name="DuckDBPyRelation", files=files, columns=columns)


def _connection_plan(name: str, connection: Any, wanted: SubsetRequest, max_bytes: int) -> Plan:
    from jupyter_codeagent.sandbox.data.duckdb_plan import connection_plan

    _leave_out(name, "DuckDB connection", wanted)
    value, files = connection_plan(name, connection)
    return Plan(value=value, type_name="DuckDBPyConnection", files=files)


PLANNERS: dict[tuple[str, str], Planner] = {
    ("polars", "LazyFrame"): _polars_plan,
    ("pyarrow", "FileSystemDataset"): _dataset_plan,
    ("duckdb", "DuckDBPyRelation"): _relation_plan,
    ("_duckdb", "DuckDBPyRelation"): _relation_plan,
    ("duckdb", "DuckDBPyConnection"): _connection_plan,
    ("_duckdb", "DuckDBPyConnection"): _connection_plan,
}


def _leave_out(name: str, kind: str, wanted: SubsetRequest) -> None:
    if wanted:
        raise VariableError(f"{name!r} is a {kind}, which the code queries itself: leave columns and --where out.")


def _applicable(where: Condition | None, columns: list[str]) -> Condition | None:
    return where if where is not None and set(where.names) <= set(columns) else None


def _require_columns(name: str, wanted: SubsetRequest, columns: list[str]) -> None:
    missing = [column for column in wanted.columns if column not in columns]
    if missing:
        raise VariableError(f"{name!r} has no column {missing[0]!r}.")


def _note(where: Condition | None, wanted: SubsetRequest, width: int) -> str:
    parts = [f"rows where {where.text}"] if where is not None else []
    if wanted.columns and len(wanted.columns) < width:
        parts.append(f"{len(wanted.columns)} of {width} columns")
    return "; ".join(parts)
