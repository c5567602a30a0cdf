"""Files of the user's that a sandbox may read after a yes: these alone, and never to be written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sandbox_box import Box

from jupyter_codeagent.sandbox.data.local_files import checked_file
from jupyter_codeagent.types.sandbox import SandboxLevel
from jupyter_codeagent.types.variables import LocalFile

MakeBox = Callable[..., Box]


@pytest.fixture
def shown(tmp_path_factory: pytest.TempPathFactory) -> LocalFile:
    """A file beside others, in a directory of its own."""
    directory = tmp_path_factory.mktemp("own")
    (directory / "data.csv").write_text("a\n1\n2\n")
    (directory / "other.csv").write_text("secret\n")
    (directory / "data.csv").chmod(0o666)
    directory.chmod(0o777)
    return checked_file("x", str(directory / "data.csv"))


READ = """
try:
    print(open({path!r}).read().split())
except OSError as problem:
    print(type(problem).__name__)
"""
CHANGES = """
import os
tried = {{
    "write": lambda: open({path!r}, "w"),
    "append": lambda: open({path!r}, "a"),
    "read and write": lambda: open({path!r}, "r+"),
    "truncate": lambda: os.truncate({path!r}, 0),
    "remove": lambda: os.unlink({path!r}),
    "rename": lambda: os.rename({path!r}, {path!r} + "x"),
    "mode": lambda: os.chmod({path!r}, 0o777),
    "times": lambda: os.utime({path!r}),
    "beside": lambda: open({path!r} + ".new", "w"),
}}
for name, try_it in tried.items():
    try:
        try_it()
        print("DONE" if name not in ("mode", "times", "beside") else "pretended", name)
    except OSError as problem:
        pass
print("end")
"""


def test_a_file_cannot_be_read_without_a_yes(make_box: MakeBox, level: SandboxLevel, shown: LocalFile) -> None:
    assert make_box(level).text(READ.format(path=shown.path)) in ("FileNotFoundError", "PermissionError")


def test_a_file_can_be_read_after_a_yes_under_its_own_path(
    make_box: MakeBox, level: SandboxLevel, shown: LocalFile
) -> None:
    assert make_box(level, read_files=(shown,)).text(READ.format(path=shown.path)) == "['a', '1', '2']"


def test_a_file_that_is_shown_cannot_be_changed(make_box: MakeBox, level: SandboxLevel, shown: LocalFile) -> None:
    """What the filter pretends to do, and what is done in a sandbox's own memory, does not reach the host."""
    before = Path(shown.path).stat()
    assert "DONE" not in make_box(level, read_files=(shown,)).text(CHANGES.format(path=shown.path))
    after = Path(shown.path).stat()
    assert sorted(path.name for path in Path(shown.path).parent.iterdir()) == ["data.csv", "other.csv"]
    assert Path(shown.path).read_text() == "a\n1\n2\n"
    assert (after.st_mtime_ns, after.st_mode) == (before.st_mtime_ns, before.st_mode)


def test_what_lies_beside_a_shown_file_stays_unseen(
    make_box: MakeBox, level: SandboxLevel, shown: LocalFile
) -> None:
    box = make_box(level, read_files=(shown,))
    other = str(Path(shown.path).with_name("other.csv"))
    assert box.text(READ.format(path=other)) in ("FileNotFoundError", "PermissionError")
    listing = f"""
import os
try:
    print(os.listdir({str(Path(shown.path).parent)!r}))
except OSError as problem:
    print(type(problem).__name__)
"""
    assert box.text(listing) in ("['data.csv']", "PermissionError")


def test_a_shown_file_in_the_working_directory_does_not_count_as_a_leak(
    make_box: MakeBox, level: SandboxLevel, shown: LocalFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(shown.path).parent)
    assert "read outside" not in make_box(level, read_files=(shown,)).kernel.status.open


@pytest.mark.parametrize("directory", ["/data", "/scratch"])
def test_files_below_names_that_sandboxes_use_themselves_are_shown_too(
    make_box: MakeBox, level: SandboxLevel, directory: str
) -> None:
    place = Path(directory)
    if place.exists():
        pytest.skip(f"{directory} is in use here")
    try:
        place.mkdir()
    except OSError as problem:
        pytest.skip(f"{directory} cannot be made: {problem}")
    try:
        (place / "x.csv").write_text("a\n7\n")
        shown: Any = checked_file("x", str(place / "x.csv"))
        assert make_box(level, read_files=(shown,)).text(READ.format(path=shown.path)) == "['a', '7']"
    finally:
        (place / "x.csv").unlink()
        place.rmdir()
