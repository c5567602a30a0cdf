from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from jupyter_codeagent.history.writers import WriterLock, dead_writers


def test_a_writer_is_alive_until_it_is_released(tmp_path: Path) -> None:
    mark = WriterLock(tmp_path / "writers")
    before = dead_writers(tmp_path / "writers", [mark.token])
    mark.release()
    mark.release()

    assert before == ()
    assert dead_writers(tmp_path / "writers", [mark.token]) == (mark.token,)


def test_a_writer_that_never_was_is_dead(tmp_path: Path) -> None:
    assert dead_writers(tmp_path / "nowhere", ["x"]) == ("x",)


def test_what_dead_writers_left_is_tidied_and_living_ones_are_not(tmp_path: Path) -> None:
    living = WriterLock(tmp_path)
    (tmp_path / "left").touch()
    newcomer = WriterLock(tmp_path)

    assert {file.name for file in tmp_path.iterdir()} == {living.token, newcomer.token}
    living.release()
    newcomer.release()


def test_a_file_is_tidied_under_its_lock_so_that_a_writer_that_begins_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "begins").touch()
    begins = os.open(tmp_path / "begins", os.O_RDWR)
    unlink = Path.unlink

    def try_to_begin(path: Path, missing_ok: bool = False) -> None:
        with pytest.raises(BlockingIOError):
            fcntl.flock(begins, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", try_to_begin)
    newcomer = WriterLock(tmp_path)
    monkeypatch.undo()
    os.close(begins)
    assert {file.name for file in tmp_path.iterdir()} == {newcomer.token}
    newcomer.release()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork of a process with threads
def test_a_forked_child_does_not_keep_its_parent_alive(tmp_path: Path) -> None:
    mark = WriterLock(tmp_path)
    (ready, is_ready), (go_on, goes_on) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:  # lives on until the parent closes its pipe
        os.close(goes_on)
        os.write(is_ready, b"1")
        os.read(go_on, 1)
        os._exit(0)
    os.read(ready, 1)
    try:
        alive = dead_writers(tmp_path, [mark.token])
        assert mark._file is not None
        os.close(mark._file)  # as the end of the parent would
        mark._file = None
        dead = dead_writers(tmp_path, [mark.token])
    finally:
        os.close(goes_on)
        os.waitpid(child, 0)
        for file in (ready, is_ready, go_on):
            os.close(file)

    assert (alive, dead) == ((), (mark.token,))
