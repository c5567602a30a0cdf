"""Copies into the sandbox: exact, writable, never written twice, refused with a reason."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from transfer_cases import EXACT_BOTH_WAYS, assert_equal, loaded

from jupyter_codeagent.sandbox.data import directory as spool_directory
from jupyter_codeagent.sandbox.data.directory import SpoolDirectory, remove_abandoned
from jupyter_codeagent.sandbox.data.spool import Spool, import_lines
from jupyter_codeagent.types.errors import VariableError

MIB = 1 << 20


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path, max_bytes=64 * MIB)


def copied(spool: Spool, **namespace: Any) -> dict[str, Any]:
    return loaded(spool.directory, spool.export(namespace, tuple(namespace), required=True))


@pytest.mark.parametrize("name", EXACT_BOTH_WAYS)
def test_a_pandas_value_arrives_equal(name: str, spool: Spool) -> None:
    assert_equal(EXACT_BOTH_WAYS[name], copied(spool, value=EXACT_BOTH_WAYS[name])["value"])


def test_polars_stays_polars_and_arrow_stays_arrow(spool: Spool) -> None:
    frame = pl.DataFrame({"a": [1, None], "c": ["x", "y"]}, schema_overrides={"c": pl.Categorical})
    got = copied(spool, frame=frame, table=frame.to_arrow(), array=np.arange(6).reshape(2, 3))
    assert got["frame"].equals(frame)
    assert got["frame"].schema == frame.schema
    assert got["table"].equals(frame.to_arrow())
    assert np.array_equal(got["array"], np.arange(6).reshape(2, 3))


def test_copies_are_writable_and_leave_the_original_and_the_file_alone(spool: Spool) -> None:
    frame = pd.DataFrame({"a": np.arange(1000.0)})
    manifest = spool.export({"frame": frame}, ("frame",), required=True)
    first = loaded(spool.directory, manifest)["frame"]
    first.loc[0, "a"] = -1.0
    first["a"] += 1
    assert frame["a"][0] == 0.0
    assert_equal(loaded(spool.directory, manifest)["frame"], frame)


def test_an_unchanged_value_is_not_written_again(spool: Spool) -> None:
    namespace = {"frame": pd.DataFrame({"a": np.arange(1000.0), "s": ["x"] * 1000})}
    first = spool.export(namespace, ("frame",), required=True)
    written_ns = [path.stat().st_mtime_ns for path in spool.directory.iterdir()]
    second = spool.export(namespace, ("frame",), required=True)
    assert first == second
    assert [path.stat().st_mtime_ns for path in spool.directory.iterdir()] == written_ns


@pytest.mark.parametrize("row", [0, 500_000, 999_999])
def test_a_changed_number_becomes_a_new_file_with_a_higher_version(row: int, spool: Spool) -> None:
    frame = pd.DataFrame({"a": np.zeros(1_000_000)})
    first = spool.export({"frame": frame}, ("frame",), required=True)
    frame.loc[row, "a"] = 1.0
    second = spool.export({"frame": frame}, ("frame",), required=True)
    assert second.copied[0].version > first.copied[0].version
    assert loaded(spool.directory, second)["frame"]["a"][row] == 1.0
    assert {path.name for path in spool.directory.iterdir()} == {name for name, _, _ in second.copied[0].files}


def test_the_digest_depends_on_the_data_alone(tmp_path: Path) -> None:
    digests = []
    for run, value in enumerate([1.0, 1.0, 2.0]):
        directory = tmp_path / str(run)
        directory.mkdir()
        spool = Spool(directory, max_bytes=MIB)
        namespace = {"b": pd.Series([value]), "a": 3}
        digests.append(spool.digest(spool.export(namespace, ("b", "a"), required=True)))
    assert digests[0] == digests[1] != digests[2]


def test_a_deleted_variable_leaves_no_file(spool: Spool) -> None:
    spool.export({"a": 1, "b": 2}, ("a", "b"), required=True)
    spool.export({"a": 1}, ("a",), required=True)
    assert len(list(spool.directory.iterdir())) == 1


def test_files_are_readable_by_the_user_alone(spool: Spool) -> None:
    spool.export({"a": 1}, ("a",), required=True)
    assert [path.stat().st_mode & 0o077 for path in spool.directory.iterdir()] == [0]


def test_an_unknown_variable_is_named_with_the_nearest(spool: Spool) -> None:
    with pytest.raises(VariableError, match="no variable 'fligths'; did you mean 'flights'"):
        spool.export({"flights": 1}, ("fligths",), required=True)


def test_a_variable_above_the_limit_is_refused_with_both_figures(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_bytes=MIB)
    namespace = {"small": 1, "big": np.zeros(MIB)}
    with pytest.raises(VariableError, match=r"'big' is .* limited to 1 MiB.* --vars"):
        spool.export(namespace, ("small", "big"), required=True)
    manifest = spool.export(namespace, ("small", "big"), required=False)
    assert [copy.name for copy in manifest.copied] == ["small"]
    assert "limited to 1 MiB" in manifest.skipped[0].reason


def test_the_limit_holds_for_all_variables_together(tmp_path: Path) -> None:
    spool = Spool(tmp_path, max_bytes=MIB)
    namespace = {"a": np.zeros(MIB // 2, "u1"), "b": np.zeros(MIB, "u1")}
    manifest = spool.export(namespace, ("a", "b"), required=False)
    assert [copy.name for copy in manifest.copied] == ["a"]
    assert "used by other variables" in manifest.skipped[0].reason


def test_what_cannot_be_copied_is_listed_with_the_reason(spool: Spool) -> None:
    namespace = {"lock": threading.Lock(), "frames": sys._current_frames(), "frame": pd.DataFrame({"a": [1]})}
    manifest = spool.export(namespace, tuple(namespace), required=False)
    assert [copy.name for copy in manifest.copied] == ["frame"]
    assert [skipped.name for skipped in manifest.skipped] == ["lock", "frames"]
    assert "cannot be copied: TypeError" in manifest.skipped[0].reason


def test_an_object_of_a_class_of_the_notebook_is_refused_by_the_name_of_the_class(spool: Spool) -> None:
    @dataclass
    class Trip:
        miles: int

    Trip.__module__ = "__main__"
    with pytest.raises(VariableError, match=r"'trips' cannot be copied: it needs '.*Trip', .* notebook"):
        spool.export({"trips": [Trip(3)]}, ("trips",), required=True)


def test_a_class_of_a_library_is_copied(spool: Spool) -> None:
    assert copied(spool, version=types.SimpleNamespace(a=1))["version"] == types.SimpleNamespace(a=1)


def test_a_full_disk_is_told_in_one_line_and_leaves_no_half_file(tmp_path: Path) -> None:
    script = f"""
import resource, signal, sys
from pathlib import Path
import numpy as np
from jupyter_codeagent.types.errors import VariableError
from jupyter_codeagent.sandbox.data.spool import Spool
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
spool = Spool(Path({str(tmp_path)!r}), max_bytes=1 << 30)
try:
    spool.export({{"big": np.zeros(1 << 20)}}, ("big",), required=True)
except VariableError as problem:
    print(problem)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "'big' (8 MiB) could not be copied to" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_modules_travel_as_the_import_lines_they_stand_for() -> None:
    namespace = {"pd": pd, "np": np, "os": os, "frame": pd.DataFrame(), "pa_ipc": pa.ipc}
    assert import_lines(namespace) == (
        "import numpy as np",
        "import os",
        "import pyarrow.ipc as pa_ipc",
        "import pandas as pd",
    )


def test_a_module_named_in_vars_is_refused(spool: Spool) -> None:
    with pytest.raises(VariableError, match="'pd' is a module"):
        spool.export({"pd": pd}, ("pd",), required=True)


def test_a_spool_directory_is_private_and_goes_with_its_owner() -> None:
    directory = SpoolDirectory(max_bytes=MIB)
    assert directory.path.stat().st_mode & 0o077 == 0
    directory.close()
    assert not directory.path.exists()


def test_what_a_crashed_kernel_left_is_removed_and_what_a_live_one_holds_is_not(tmp_path: Path) -> None:
    script = """
import sys, os, tempfile
from pathlib import Path
from jupyter_codeagent.sandbox.data import directory
directory.MEMORY = Path(sys.argv[1])
made = directory.SpoolDirectory(max_bytes=1)
print(made.path, flush=True)
sys.stdin.readline()
os._exit(1)
"""
    kernel = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert kernel.stdout is not None
    left = Path(kernel.stdout.readline().strip())
    remove_abandoned(tmp_path)
    assert left.exists()
    kernel.communicate("\n")
    remove_abandoned(tmp_path)
    assert not left.exists()


def abandoned(parent: Path, name: str = "left") -> Path:
    """As a crashed kernel leaves it: its lock is there, and nobody holds it."""
    path = parent / f"{spool_directory.PREFIX}{name}"
    path.mkdir(mode=0o700)
    (path / spool_directory.LOCK).touch()
    (path / "copy").write_bytes(b"x")
    return path


def test_a_link_under_the_name_of_a_spool_breaks_nothing_and_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, swept = abandoned(tmp_path / "elsewhere"), abandoned(tmp_path)
    (tmp_path / f"{spool_directory.PREFIX}evil").symlink_to(target)
    (tmp_path / f"{spool_directory.PREFIX}dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / f"{spool_directory.PREFIX}file").touch()
    linked_lock = tmp_path / f"{spool_directory.PREFIX}linked-lock"
    linked_lock.mkdir()
    (linked_lock / spool_directory.LOCK).symlink_to(target / spool_directory.LOCK)
    remove_abandoned(tmp_path)
    assert (target / "copy").exists()
    assert linked_lock.exists()
    assert not swept.exists()


def test_a_directory_of_another_user_is_let_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = abandoned(tmp_path)
    own = os.getuid()
    monkeypatch.setattr("os.getuid", lambda: own + 1)
    remove_abandoned(tmp_path)
    assert left.exists()
    monkeypatch.setattr("os.getuid", lambda: own)
    remove_abandoned(tmp_path)
    assert not left.exists()


def test_a_directory_without_a_lock_is_swept_only_when_it_is_old(tmp_path: Path) -> None:
    """Between its making and its lock a live owner's directory looks like that."""
    fresh, old = (abandoned(tmp_path, name) for name in ("fresh", "old"))
    for path in (fresh, old):
        (path / spool_directory.LOCK).rename(path / f"{spool_directory.LOCK}.new")
    os.utime(old, (0, 0))
    remove_abandoned(tmp_path)
    assert fresh.exists()
    assert not old.exists()


def test_the_lock_has_its_name_only_when_it_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another kernel that sweeps in the moment of the locking leaves the directory alone."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(spool_directory, "MEMORY", tmp_path / "none")
    flock = fcntl.flock
    swept: list[int] = []

    def sweep_first(fd: int, operation: int) -> None:
        if not swept:
            swept.append(fd)
            remove_abandoned(tmp_path)
        flock(fd, operation)

    monkeypatch.setattr(fcntl, "flock", sweep_first)
    made = SpoolDirectory(max_bytes=1)
    assert swept
    assert made.path.exists()
    made.close()


def test_kernels_that_start_at_once_beside_abandoned_spools_all_start_and_keep_theirs(tmp_path: Path) -> None:
    for number in range(200):
        abandoned(tmp_path, str(number))
    script = """
import sys, tempfile
from pathlib import Path
from jupyter_codeagent.sandbox.data import directory
tempfile.tempdir = sys.argv[1]
directory.MEMORY = Path(sys.argv[1], "none")
print("ready", flush=True)
sys.stdin.readline()
made = directory.SpoolDirectory(max_bytes=1)
print(made.path, flush=True)
sys.stdin.readline()
assert (made.path / directory.LOCK).exists()
made.close()
"""
    kernels = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for expected in ("ready", str(tmp_path)):
        for kernel in kernels:
            assert kernel.stdout is not None
            assert kernel.stdout.readline().startswith(expected)
        for kernel in kernels:
            assert kernel.stdin is not None
            kernel.stdin.write("\n")
            kernel.stdin.flush()
    assert [kernel.communicate()[1] for kernel in kernels] == [""] * 3
    assert list(tmp_path.iterdir()) == []
