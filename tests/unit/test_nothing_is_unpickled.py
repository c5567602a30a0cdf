"""What comes out of the sandbox is never unpickled, nor run: no code does it, and bombs on every way do nothing."""

from __future__ import annotations

import ast
import base64
import io
import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from jupyter_client.session import Session

import jupyter_codeagent
from jupyter_codeagent.notebook.outputs import clean_output
from jupyter_codeagent.sandbox.data.unpack import unpack
from jupyter_codeagent.sandbox.guard import OutputGuard, RequestGuard, ValueGuard
from jupyter_codeagent.sandbox.local.channels.wire import MalformedMessageError, Received, read_message
from jupyter_codeagent.types.errors import RejectedDataError
from jupyter_codeagent.types.sandbox import PackedValue, SandboxPolicy

PACKAGE = Path(jupyter_codeagent.__file__).parent

# --- the code -------------------------------------------------------------------------------------------

PICKLING = frozenset(
    {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "jsonpickle", "torch"}
)
"""Modules whose loading runs what the bytes say."""
RUNNING = frozenset({"runpy", "code", "codeop", "imp"})
RUNNERS = frozenset({"eval", "exec", "compile", "__import__"})
READERS = frozenset(
    {
        "read_pickle",
        "read_hdf",
        "Unpickler",
        "_Unpickler",
        "unsafe_load",
        "full_load",
        "import_module",
        "literal_run",
    }
    | {"PyExtensionType", "deserialize_pandas"}
)
"""Under whatever name the module goes."""
LOADERS = frozenset({"numpy.load", "yaml.load", "builtins.eval", "builtins.exec", "builtins.compile"})

ALLOWED = {
    (
        "sandbox/data/pickling.py",
        "import pickle",
    ): "writes the copies for the sandbox; what reads them is inside it",
    ("sandbox/data/duckdb_plan.py", "importlib.import_module"): "named in a copy for the sandbox, called inside it",
}
"""(file, what): why it may."""
WRITING_ONLY = frozenset({"pickle.Pickler", "pickle.PickleBuffer", "pickle.dumps", "pickle.PicklingError"})
"""Of the modules above."""


class Finder(ast.NodeVisitor):
    """Everything in one module that could run data."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._names: dict[str, str] = {}
        """Local name to the module or the thing that it stands for."""

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._imported(alias.name)
            self._names[alias.asname or alias.name.partition(".")[0]] = (
                alias.name if alias.asname else alias.name.partition(".")[0]
            )

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.module is None or node.level:
            return
        self._imported(node.module)
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            self._names[alias.asname or alias.name] = full
            self._judge(full)

    def _imported(self, module: str) -> None:
        if module.partition(".")[0] in PICKLING | RUNNING:
            self.found.append(f"import {module}")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._judge(self._full_name(node))
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in RUNNERS and node.id not in self._names:
            self.found.append(node.id)

    def visit_Call(self, node: ast.Call) -> None:
        called = self._full_name(node.func)
        for keyword in node.keywords:
            is_off = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
            if keyword.arg == "allow_pickle" and not is_off:
                self.found.append("allow_pickle")
        if called == "getattr" and node.args and self._full_name(node.args[0]).partition(".")[0] in PICKLING:
            self.found.append("getattr of a pickling module")
        self.generic_visit(node)

    def _full_name(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return self._names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return f"{self._full_name(node.value)}.{node.attr}"
        return ""

    def _judge(self, full: str) -> None:
        root, _, rest = full.partition(".")
        last = full.rpartition(".")[2]
        is_pickling = root in PICKLING and bool(rest) and full not in WRITING_ONLY
        if is_pickling or last in READERS or full in LOADERS:
            self.found.append(full)


def found_in(source: str) -> list[str]:
    finder = Finder()
    finder.visit(ast.parse(source))
    return finder.found


def modules() -> Iterator[tuple[str, str]]:
    """(path within the package, source) of all that runs outside the sandbox."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith("sandbox/guest/"):
            yield name, path.read_text(encoding="utf-8")


def test_no_code_outside_the_sandbox_unpickles_or_evaluates() -> None:
    found = {(name, what) for name, source in modules() for what in found_in(source)}

    assert found - set(ALLOWED) == set()
    assert set(ALLOWED) - found == set()  # an exception that nothing needs any more goes
    assert len(list(modules())) > 80


@pytest.mark.parametrize(
    "source",
    [
        "import pickle\npickle.loads(b'')",
        "import pickle as p\np.load(f)",
        "from pickle import loads",
        "from pickle import Unpickler as U",
        "import pickle\nclass A(pickle.Unpickler): pass",
        "read = __import__('pickle').loads",
        "import importlib\nimportlib.import_module('pickle').loads(b'')",
        "import pickle\ngetattr(pickle, 'loads')(b'')",
        "import pickle\nlist(map(pickle.loads, data))",
        "import cloudpickle",
        "import dill as d",
        "from joblib import load",
        "import shelve",
        "import marshal",
        "import torch\ntorch.load(f)",
        "import numpy as np\nnp.load(f)",
        "from numpy import load",
        "npy.read_array(file, allow_pickle=True)",
        "npy.read_array(file, allow_pickle=flag)",
        "import pandas as pd\npd.read_pickle(f)",
        "pd.read_hdf(f)",
        "import yaml\nyaml.load(f)",
        "import yaml\nyaml.unsafe_load(f)",
        "eval(x)",
        "def f():\n    exec(x)",
        "compile(x, '', 'exec')",
        "run = [eval]",
        "import runpy",
    ],
)
def test_the_search_finds_each_way_to_do_it(source: str) -> None:
    assert set(found_in(source)) - {"import pickle"}


@pytest.mark.parametrize(
    "source",
    [
        "import json\njson.loads(x)",
        "import re\nre.compile(x)",
        "npy.read_array(file, allow_pickle=False)",
        "self.load(run_id)",
        "model.eval",
        "import ast\nast.literal_eval(x)",
    ],
)
def test_the_search_is_silent_about_what_only_looks_like_it(source: str) -> None:
    assert found_in(source) == []


# --- the bombs ------------------------------------------------------------------------------------------


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return open, (str(self._path), "w")


@pytest.fixture
def crater(tmp_path: Path) -> Iterator[Path]:
    """The file that no bomb may have made by the end of the test."""
    path = tmp_path / "crater"
    yield path
    assert not path.exists()


PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def bomb(crater: Path, protocol: int = pickle.DEFAULT_PROTOCOL) -> bytes:
    return pickle.dumps(Bomb(crater), protocol)


def reject(kind: str, meta: Any, data: bytes = b"") -> None:
    text = meta if isinstance(meta, str) else json.dumps(meta)
    with pytest.raises(RejectedDataError):
        unpack(PackedValue(kind=kind, meta_json=text, data=data), max_bytes=1 << 20)  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_bombs_go_off_where_someone_unpickles_them(tmp_path: Path, protocol: int) -> None:
    crater = tmp_path / "crater"
    pickle.loads(bomb(crater, protocol)).close()
    assert crater.exists()
    crater.unlink()
    np.load(io.BytesIO(object_array(crater)), allow_pickle=True)[0].close()
    assert crater.exists()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", ["json", "npy", "arrow", "pickle", "error"])
def test_a_pickle_in_place_of_a_value_is_refused(crater: Path, kind: str, protocol: int) -> None:
    reject(kind, "{}", bomb(crater, protocol))
    reject(kind, bomb(crater, protocol).decode("latin-1"), bomb(crater, protocol))


def object_array(crater: Path) -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([Bomb(crater)], dtype=object), allow_pickle=True)
    return file.getvalue()


def test_an_array_of_objects_is_refused_also_when_its_size_fits_its_header(crater: Path) -> None:
    reject("npy", {}, object_array(crater))
    body = bomb(crater)
    body += b"\0" * (-len(body) % 8)
    for descr in ("'|O'", "[('a', '|O')]", "[('a', [('b', '|O')])]", "('|O', (1,))"):
        header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': ({len(body) // 8},)}}".encode()
        for version in (1, 2, 3):
            size = len(header).to_bytes(2 if version == 1 else 4, "little")
            reject("npy", {}, b"\x93NUMPY" + bytes([version, 0]) + size + header + body)


def test_an_array_header_is_read_as_a_literal_and_never_run(crater: Path) -> None:
    run = f"open({str(crater)!r}, 'w')"
    for header in (
        f"{{'descr': {run}, 'fortran_order': False, 'shape': (1,)}}",
        f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({run},)}}",
        f"[{run} for _ in '1']",
        run,
    ):
        raw = header.encode()
        reject("npy", {}, b"\x93NUMPY\x01\x00" + len(raw).to_bytes(2, "little") + raw)


def arrow(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(memoryview(sink.getvalue()))


def test_an_arrow_type_that_is_described_by_a_pickle_is_refused(crater: Path) -> None:
    """`arrow.py_extension_type` was unpickled by reading it alone (CVE-2023-47248)."""
    for name in (b"arrow.py_extension_type", b"arrow.json", b"pandas.period", b"made.up"):
        field = pa.field(
            "a",
            pa.binary(),
            metadata={b"ARROW:extension:name": name, b"ARROW:extension:metadata": bomb(crater)},
        )
        table = pa.table([pa.array([bomb(crater)])], schema=pa.schema([field]))
        reject("arrow", {"form": "arrow_table", "labels": ["a"], "rows": 1}, arrow(table))


@pytest.mark.parametrize("key", [b"pandas", b"ARROW:extension:metadata", b"pickle", b"codeagent"])
def test_pickles_in_the_metadata_and_cells_of_a_table_stay_bytes(crater: Path, key: bytes) -> None:
    metadata = {key: bomb(crater), b"PANDAS": bomb(crater)}
    schema = pa.schema([pa.field("a", pa.binary(), metadata={b"x": bomb(crater)})], metadata=metadata)
    data = arrow(pa.table([pa.array([bomb(crater)])], schema=schema))
    meta = {"form": "arrow_table", "labels": ["a"], "rows": 1}

    value, _ = unpack(PackedValue(kind="arrow", meta_json=json.dumps(meta), data=data), max_bytes=1 << 20)

    assert value.column(0)[0].as_py() == bomb(crater)


@pytest.mark.parametrize(
    "tag", ["object", "pickle", "numpy:object", "numpy:O", "arrow", "string", "category", "masked:O"]
)
@pytest.mark.parametrize("form", ["frame", "series", "index", "polars", "arrow_table", "pickle"])
def test_a_column_of_pickles_becomes_bytes_or_is_refused_whatever_it_is_said_to_be(
    crater: Path, form: str, tag: str
) -> None:
    data = arrow(pa.table({"a": pa.array([bomb(crater)])}))
    meta = {"form": form, "labels": ["a"], "rows": 1, "tags": [tag], "range": [0, 1, 1], "column_names": [None]}
    try:
        value, _ = unpack(PackedValue(kind="arrow", meta_json=json.dumps(meta), data=data), max_bytes=1 << 20)
    except RejectedDataError:
        return
    assert "_io.TextIOWrapper" not in repr(value)


def test_json_that_describes_an_object_of_another_library_makes_none(crater: Path) -> None:
    path = str(crater)
    for described in (
        {"py/reduce": [{"py/function": "builtins.open"}, {"py/tuple": [path, "w"]}]},
        {"py/object": "builtins.open", "py/newargs": [path, "w"]},
        {"__reduce__": ["open", [path, "w"]]},
        {"__class__": "pathlib.Path", "__args__": [path]},
        {"$type": "System.IO.File", "path": path},
        ["__import__('os').system", [f"touch {path}"]],
        {"t": "pickle", "v": base64.b64encode(bomb(crater)).decode()},
        ["pickle", base64.b64encode(bomb(crater)).decode()],
    ):
        try:
            value, _ = unpack(
                PackedValue(kind="json", meta_json=json.dumps(described), data=b""), max_bytes=1 << 20
            )
        except RejectedDataError:
            continue
        assert type(value) in (dict, list)


def frames(session: Session, crater: Path, at: int) -> list[bytes]:
    """A signed message with a pickle in one of header, parent, metadata and content."""
    parts = [
        b'{"msg_type": "stream", "msg_id": "1"}',
        b'{"msg_id": "1"}',
        b"{}",
        b'{"name": "stdout", "text": "x"}',
    ]
    parts[at] = bomb(crater)
    return [b"<IDS|MSG>", session.sign(parts), *parts]


@pytest.mark.parametrize("at", range(4))
def test_a_message_in_pickles_is_malformed(crater: Path, at: int) -> None:
    session = Session(key=b"key")

    with pytest.raises(MalformedMessageError):
        read_message(session, frames(session, crater, at)).parsed()


def test_a_pickle_in_the_buffers_of_a_message_is_a_value_that_is_refused(crater: Path) -> None:
    for kind in ("npy", "arrow", "json"):
        guard = ValueGuard(1 << 20)
        content = {"index": 0, "count": 1, "kind": kind, "meta": "{"}
        guard.handle_iopub(message("codeagent_value", content, bomb(crater)))
        assert guard.complete
        assert guard.value().data == bomb(crater)
        with pytest.raises(RejectedDataError):
            unpack(guard.value(), max_bytes=1 << 20)
    guard = ValueGuard(1 << 20)
    guard.handle_iopub(
        message("codeagent_value", {"index": 0, "count": 1, "kind": "pickle", "meta": "{}"}, bomb(crater))
    )
    assert not guard.complete


def message(msg_type: str, content: Any, *buffers: bytes) -> Received:
    parts = tuple(memoryview(buffer) for buffer in buffers)
    return Received(msg_type=msg_type, parent_id="1", content=json.dumps(content).encode(), buffers=parts)


def test_pickles_in_outputs_replies_and_payloads_are_text_or_nothing(crater: Path) -> None:
    text = bomb(crater, 0).decode("latin-1")
    encoded = base64.b64encode(bomb(crater)).decode()
    mimes = ["application/x-python-pickle", "application/octet-stream", "text/plain", "text/html", "image/png", "x"]
    mimes += ["application/json", "image/svg+xml", "application/vnd.apache.arrow.stream", "application/x-npy"]
    guard = OutputGuard(SandboxPolicy(), clean_output)
    for value in (text, encoded, {"data": encoded}, [text]):
        bundle = dict.fromkeys(mimes, value)
        guard.handle_iopub(message("display_data", {"data": bundle, "metadata": bundle}, bomb(crater)))
        guard.handle_iopub(message("stream", {"name": "stdout", "text": text}))
        guard.handle_iopub(message("error", {"ename": text, "evalue": encoded, "traceback": [text]}))
        guard.handle_iopub(message("comm_open", {"data": bundle}, bomb(crater)))
    reply = RequestGuard()
    payload = [{"source": "set_next_input", "text": encoded, "data": text}]
    reply.handle_shell(
        message("execute_reply", {"status": "error", "ename": text, "payload": payload}, bomb(crater))
    )

    shown = guard.finish()
    assert len(shown) > 4
    assert "application/x-python-pickle" not in json.dumps(shown)
    assert "1 message of type payload dropped" in reply.notes
