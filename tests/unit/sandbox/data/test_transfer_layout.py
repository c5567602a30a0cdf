"""Values are cut into pieces: what has changed is written, and nothing else; what is gone is gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from transfer_cases import assert_equal, loaded

from jupyter_codeagent.sandbox.data import files, layout
from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.sandbox.guest import load

KIB = 1 << 10
ROWS = 100_003
"""A column of numbers has 800,024 bytes: neither pages nor pieces end where columns do."""


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a frame of a few megabytes has as many as a gigabyte has."""
    monkeypatch.setattr(layout, "PIECE_BYTES", 128 * KIB)
    monkeypatch.setattr(files, "PIECE_BYTES", 128 * KIB)
    monkeypatch.setattr(layout, "LARGE_BYTES", 64 * KIB)


class Copies:
    """A spool, and how many bytes each export has written to it."""

    def __init__(self, directory: Path) -> None:
        self.spool = Spool(directory, max_bytes=1 << 30)
        self.files: dict[str, int] = {}

    def export(self, value: Any) -> tuple[Any, int]:
        """What a sandbox gets, and the bytes written."""
        manifest = self.spool.export({"value": value}, ("value",), required=True)
        now = {path.name: path.stat().st_size for path in self.spool.directory.iterdir()}
        assert now.keys() == {name for name, _, _ in manifest.copied[0].files}
        written = sum(size for name, size in now.items() if name not in self.files)
        self.files = now
        return loaded(self.spool.directory, manifest)["value"], written

    @property
    def content(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.spool.directory.iterdir())


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    return Copies(tmp_path)


def numbers(columns: int = 10) -> pd.DataFrame:
    """In one block."""
    values = np.random.default_rng(0).random((ROWS, columns))
    return pd.DataFrame(values, columns=[f"c{i}" for i in range(columns)])


COLUMN_BYTES = 8 * ROWS
SLACK_BYTES = 4 * 128 * KIB
"""The pieces at both ends of what has changed, and the one with the pickle stream."""


def test_a_column_that_is_set_anew_is_written_and_the_others_are_not(copies: Copies) -> None:
    frame = numbers()
    copies.export(frame)
    frame["c4"] = np.arange(ROWS) / 3
    got, written = copies.export(frame)
    assert_equal(got, frame)
    assert COLUMN_BYTES <= written <= 2 * COLUMN_BYTES + SLACK_BYTES
    frame["c4"] *= 2
    got, written = copies.export(frame)
    assert_equal(got, frame)
    assert COLUMN_BYTES <= written <= COLUMN_BYTES + SLACK_BYTES


def test_a_column_that_is_changed_in_its_block_is_written_and_the_others_are_not(copies: Copies) -> None:
    frame = numbers()
    copies.export(frame)
    frame.loc[:, "c4"] = 0.0
    got, written = copies.export(frame)
    assert_equal(got, frame)
    assert 0 < written <= COLUMN_BYTES + SLACK_BYTES


def test_one_number_costs_one_piece(copies: Copies) -> None:
    frame = numbers()
    copies.export(frame)
    frame.loc[77_777, "c4"] = -1.0
    got, written = copies.export(frame)
    assert_equal(got, frame)
    assert 0 < written <= 128 * KIB


@pytest.mark.parametrize("where", [0, 5, 10])
def test_a_column_that_is_added_or_taken_away_leaves_the_files_of_the_others(copies: Copies, where: int) -> None:
    frame = pd.DataFrame({f"c{i}": np.random.default_rng(i).random(ROWS) for i in range(10)})
    copies.export(frame)
    frame.insert(where, "new", np.arange(ROWS) / 7)
    got, written = copies.export(frame)
    assert_equal(got, frame)
    assert COLUMN_BYTES <= written <= 2 * COLUMN_BYTES + SLACK_BYTES
    del frame["new"]
    got, written = copies.export(frame)
    assert_equal(got, frame)
    assert written <= COLUMN_BYTES + SLACK_BYTES


def test_the_same_data_at_another_address_is_not_written_again(copies: Copies) -> None:
    """As when the cell that reads it is run again."""
    copies.export(numbers())
    assert copies.export(numbers())[1] == 0
    whole = np.random.default_rng(0).random(ROWS)
    copies.export(whole)
    copies.export(whole[1000:])  # cut where the whole was cut
    got, written = copies.export(whole[1000:].copy())
    assert written == 0
    assert np.array_equal(got, whole[1000:])


def test_a_column_of_texts_is_written_alone(copies: Copies) -> None:
    frame = pd.DataFrame({f"s{i}": [f"{i} {row}" for row in range(30_000)] for i in range(10)}, dtype="str")
    _, whole = copies.export(frame)
    frame["s3"] = frame["s3"].str.upper().str.cat(["!"] * 30_000)
    got, written = copies.export(frame)
    assert_equal(got, frame)
    assert 0 < written <= whole / 5


def test_a_column_of_a_polars_frame_is_written_alone(copies: Copies) -> None:
    frame = pl.DataFrame({f"c{at}": np.arange(ROWS) / (at + 1) for at in range(5)})
    _, written = copies.export(frame)
    assert written >= 5 * COLUMN_BYTES
    frame = frame.with_columns(c2=pl.col("c2") * 2)
    got, written = copies.export(frame)
    assert got.equals(frame)
    assert COLUMN_BYTES <= written <= COLUMN_BYTES + SLACK_BYTES


def test_a_copy_is_aligned_as_its_live_memory_is(copies: Copies) -> None:
    memory = np.zeros(1 << 20, "u1")
    copies.export(memory[1:])
    numbers_there = memory[8:].view("f8")
    assert numbers_there.flags.aligned
    got, _ = copies.export(numbers_there)
    assert got.flags.aligned


def test_equal_pieces_keep_a_file_each_and_count_as_unchanged(copies: Copies) -> None:
    frame = pd.DataFrame({f"c{i}": np.zeros(ROWS) for i in range(10)})
    copies.export(frame)
    before = dict(copies.files)
    got, written = copies.export(frame)
    assert (written, copies.files) == (0, before)
    got.loc[0, "c0"] = 1.0
    assert_equal(got.drop(columns="c0"), frame.drop(columns="c0"))


@pytest.mark.parametrize("take_away", ["drop the column", "overwrite it"])
def test_what_the_user_has_taken_out_is_in_no_file_any_more(copies: Copies, take_away: str) -> None:
    """Only in what is mapped: a sandbox of an earlier run has seen it."""
    secret = np.frombuffer(b"a secret of this column!" * 1000, "f8")
    frame = pd.DataFrame(np.random.default_rng(0).random((secret.size, 8)), columns=list("abcdefgh"))
    frame["c"] = secret
    copies.export(frame)
    assert b"a secret" in copies.content
    if take_away == "drop the column":
        frame = frame.drop(columns="c")
    else:
        frame.loc[:, "c"] = 0.0
    got, _ = copies.export(frame)
    assert_equal(got, frame)
    assert b"a secret" not in copies.content


def test_files_never_change_so_that_what_an_earlier_run_has_mapped_stays_as_it_was(copies: Copies) -> None:
    frame = numbers()
    first, _ = copies.export(frame)
    part = first["c4"][10:20]
    expected = frame["c4"][10:20].copy()
    frame.loc[:, "c4"] = 0.0
    copies.export(frame)
    frame["c4"] = 1.0
    copies.export(frame)
    assert_equal(part, expected)


def test_a_long_pickle_stream_is_cut_too_and_one_changed_object_costs_what_comes_after_it(copies: Copies) -> None:
    values = [f"{row} of many objects" for row in range(50_000)]
    _, whole = copies.export(values)
    values[-1] = "changed"
    got, written = copies.export(values)
    assert got == values
    assert 0 < written <= 128 * KIB < whole / 4


def test_many_small_buffers_share_pieces(copies: Copies) -> None:
    values = {index: np.full(1000, index) for index in range(100)}
    got, written = copies.export(values)
    assert all(np.array_equal(got[index], values[index]) for index in values)
    assert 800_000 < written < 900_000
    assert len(copies.files) < 10
    values[99][0] = -1
    got, written = copies.export(values)
    assert got[99][0] == -1
    assert written <= 128 * KIB


def test_where_files_cannot_be_mapped_they_are_read(copies: Copies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "_MMAP", lambda *_: -1)
    frame = numbers()
    got, _ = copies.export(frame)
    assert_equal(got, frame)


def test_a_file_that_is_shorter_than_announced_is_refused(copies: Copies) -> None:
    """Reading behind the end of a mapped file would kill the sandbox."""
    manifest = copies.spool.export({"value": numbers()}, ("value",), required=True)
    copied = manifest.copied[0]
    (copies.spool.directory / copied.files[3][0]).write_bytes(b"")
    described = [{"name": "value", "files": copied.files, "buffers": copied.buffers, "head": copied.head}]
    problems = load.load_variables(str(copies.spool.directory), described, {})
    assert "announced" in problems["value"]


def test_buffers_are_aligned_for_arrow_and_vectorised_loops(copies: Copies) -> None:
    got, _ = copies.export([pa.table({"a": np.arange(ROWS)}), np.arange(7), np.arange(ROWS)])
    addresses = [
        got[0]["a"].chunk(0).buffers()[1].address,
        got[1].__array_interface__["data"][0],
        got[2].__array_interface__["data"][0],
    ]
    assert [address % 64 for address in addresses] == [0, 0, 0]


def test_the_digest_does_not_depend_on_how_the_bytes_are_cut(tmp_path: Path) -> None:
    digests = []
    for name, exported_before in (("once", False), ("twice", True)):
        (tmp_path / name).mkdir()
        spool = Spool(tmp_path / name, max_bytes=1 << 30)
        frame = numbers()
        if exported_before:
            spool.export({"value": frame}, ("value",), required=True)
        frame["c4"] = 1.0
        manifest = spool.export({"value": frame}, ("value",), required=True)
        digests.append((spool.digest(manifest), manifest.copied[0].files))
    assert digests[0][0] == digests[1][0]
    assert [length for _, _, length in digests[0][1]] != [length for _, _, length in digests[1][1]]
