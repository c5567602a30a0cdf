"""`session.variable_selection`: what the sandbox gets of what the user has, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pandas as pd
import polars as pl
import pytest

from jupyter_codeagent.entrypoints.options import parse_options
from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.session.file_grants import granted_files, require
from jupyter_codeagent.session.variable_selection import VariableSelection, select_variables
from jupyter_codeagent.types.approvals import Grant
from jupyter_codeagent.types.errors import DeniedError, UsageError, VariableError
from jupyter_codeagent.types.sandbox import SandboxPolicy
from jupyter_codeagent.types.variables import CopiedVariable, LocalFile, Manifest
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.render import render

MIB = 1 << 20


def flights(rows: int = 1000) -> pd.DataFrame:
    return pd.DataFrame({"n": range(rows), "dep_delay": [float(n % 100) for n in range(rows)], "origin": "JFK"})


def choice_of(
    values: dict[str, Any],
    prompt: str = "how late?",
    options: str = "",
    *,
    max_bytes: int = 100 * MIB,
    asked: Any = None,
) -> VariableSelection:
    def ask(name: str, files: Sequence[LocalFile]) -> None:
        if asked is not None:
            asked(name, files)

    summaries = describe(values, privacy="stats", mentioned=prompt)
    return select_variables(
        values, summaries, prompt, parse_options(options), always=(), max_bytes=max_bytes, ask=ask
    )


def test_the_sandbox_gets_the_part_under_the_same_name_and_model_and_receipt_are_told() -> None:
    values = {"flights": flights(), "planes": flights(10)}
    choice = choice_of(values, options="--vars 'flights[dep_delay,n],planes' --sample 100")
    assert choice.names == ("flights", "planes")
    assert choice.values["flights"].shape == (100, 2)
    assert choice.values["planes"] is values["planes"]
    summaries = describe(values, privacy="stats", mentioned="")
    told = choice.described(summaries, Manifest(), lambda parts: describe(parts, privacy="stats", mentioned=""))
    headline = next(summary.headline for summary in told if summary.name == "flights")
    assert headline.startswith("flights: DataFrame 100x2")
    assert headline.endswith(" (random sample of 1000 rows; 2 of 3 columns)")
    (note,) = choice.run_notes
    assert note == (
        "numbers for flights are from its copy (random sample of 1000 rows; 2 of 3 columns); "
        "accepted cells run on your whole flights"
    )


def test_the_copy_in_the_manifest_says_what_part_it_is(tmp_path: Path) -> None:
    choice = choice_of({"flights": flights()}, options="--vars flights --sample 10")
    manifest = Spool(tmp_path, max_bytes=MIB).export(choice.values, choice.names, required=True)
    (copied,) = choice.complete(manifest).copied
    assert (copied.name, copied.note) == ("flights", "random sample of 1000 rows")


def test_a_condition_that_no_frame_has_the_columns_for_is_a_slip() -> None:
    with pytest.raises(UsageError, match=r"none of the 1 frames has all of the columns 'dep_dellay'"):
        choice_of({"flights": flights()}, options="--vars flights --where 'dep_dellay > 60'")


def test_a_frame_that_is_too_large_ends_the_run_when_the_prompt_names_it_and_is_skipped_else() -> None:
    values = {"big": flights(200_000), "small": flights(10)}
    with pytest.raises(VariableError, match=r'--vars "big\[n.*--sample \d+, or --where "n > 100000"'):
        choice_of(values, "plot big", max_bytes=2 * MIB)
    choice = choice_of(values, "what do I have?", max_bytes=2 * MIB)
    assert choice.names == ("small",)
    (skipped,) = choice.skipped
    assert skipped.name == "big"
    assert "copies of one run are limited to 2 MiB" in skipped.reason
    assert "--sample" in skipped.reason


def test_a_sample_makes_a_large_frame_fit_without_naming_it() -> None:
    choice = choice_of({"big": flights(200_000)}, "how late?", "--sample 1000", max_bytes=MIB)
    assert choice.names == ("big",)
    assert len(choice.values["big"]) == 1000
    assert choice.skipped == ()


def test_a_large_frame_named_with_vars_is_an_error_with_the_ways(tmp_path: Path) -> None:
    values = {"big": flights(200_000)}
    choice = choice_of(values, options="--vars big", max_bytes=2 * MIB)
    with pytest.raises(VariableError, match=r"'big' is about \d+ MiB; copies .* 2 MiB\. Copy a part: --vars"):
        Spool(tmp_path, max_bytes=2 * MIB).export(choice.values, choice.names, required=choice.required)


def test_dask_is_computed_only_when_it_is_named_with_vars_and_a_sample() -> None:
    ran: list[int] = []

    def computed(part: pd.DataFrame) -> pd.DataFrame:
        ran.append(len(part))
        return part

    frame: Any = dd.from_pandas(flights(), npartitions=2)  # type: ignore[no-untyped-call]
    seen = frame.map_partitions(computed, meta=flights(2))
    for options, prompt in (("", "how is far?"), ("--sample 10", "how is far?")):
        choice = choice_of({"far": seen}, prompt, options)
        (skipped,) = choice.skipped
        assert "`--vars far --sample 100000`" in skipped.reason
    with pytest.raises(VariableError, match="--sample 100000"):
        choice_of({"far": seen}, options="--vars far")
    assert ran == []
    choice = choice_of({"far": seen}, options="--vars far --sample 10")
    assert ran
    assert choice.values["far"].shape == (10, 3)
    assert "fetched by Dask" in choice.notes["far"]


def test_a_lazy_frame_is_asked_for_before_it_is_copied_and_told_with_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "trips.parquet"
    pl.DataFrame({"a": [1], "fare": [2.5]}).write_parquet(path)
    values = {"trips": pl.scan_parquet(path)}
    asked: list[tuple[str, str]] = []

    def ask(name: str, files: Sequence[LocalFile]) -> None:
        asked.extend((name, file.path) for file in files)

    choice = choice_of(values, "mean fare of trips", asked=ask)
    assert asked == [("trips", str(path.resolve()))]
    assert choice.names == ("trips",)
    manifest = Spool(tmp_path / "..", max_bytes=MIB).export(choice.values, choice.names, required=True)
    (copied,) = choice.complete(manifest).copied
    assert copied.type_name == "LazyFrame"
    assert [file.path for file in copied.reads] == [str(path.resolve())]
    summaries = describe(values, privacy="schema", mentioned="")

    def told_of(manifest: Manifest) -> list[str]:
        (told,) = choice.described(
            summaries, manifest, lambda parts: describe(parts, privacy="schema", mentioned="")
        )
        return [column.name for column in told.columns]

    assert told_of(manifest) == ["'a'", "'fare'"]
    assert told_of(Manifest()) == [], "of a plan that was refused nothing is told"


def test_without_a_yes_a_lazy_frame_is_not_copied(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "x.parquet")

    def ask(name: str, files: Sequence[LocalFile]) -> None:
        raise DeniedError("Not done: the answer was no.")

    with pytest.raises(DeniedError):
        choice_of({"lazy": pl.scan_parquet(tmp_path / "x.parquet")}, options="--vars lazy", asked=ask)


def local(path: Path, text: str = "a\n") -> LocalFile:
    from jupyter_codeagent.sandbox.data.local_files import checked_file

    path.write_text(text)
    return checked_file("x", str(path))


def test_a_yes_is_remembered_for_each_file_alone(tmp_path: Path) -> None:
    grants, asked = Grants(), []
    first, second = local(tmp_path / "1.csv"), local(tmp_path / "2.csv")

    def yes(paths: str, question: str, lasting: Sequence[Grant]) -> None:
        asked.append((paths.split("  ", maxsplit=1)[0], question))
        grants.add(lasting)

    require("x", [first], SandboxPolicy(), grants, yes)
    require("x", [first], SandboxPolicy(), grants, yes)
    require("y", [first, second], SandboxPolicy(), grants, yes)
    assert [path for path, _ in asked] == [first.path, second.path]
    assert asked[1][1] == "This file is what 'y' reads; the sandbox does not write there."
    assert granted_files(grants) == (first, second)
    grants.take_back("mount", first.path)
    assert granted_files(grants) == (second,)


def test_a_no_grants_nothing(tmp_path: Path) -> None:
    grants = Grants()

    def no(paths: str, question: str, lasting: Sequence[Grant]) -> None:
        raise DeniedError("no")

    with pytest.raises(DeniedError):
        require("x", [local(tmp_path / "1.csv")], SandboxPolicy(), grants, no)
    assert granted_files(grants) == ()


def test_a_newer_file_under_the_path_is_another_policy_and_a_link_there_is_none(tmp_path: Path) -> None:
    grants = Grants()
    old = local(tmp_path / "1.csv")
    require("x", [old], SandboxPolicy(), grants, lambda paths, question, lasting: grants.add(lasting))
    local(tmp_path / "new", "b\n")
    (tmp_path / "new").replace(tmp_path / "1.csv")
    (newer,) = granted_files(grants)
    assert newer != old
    with Path(newer.path).open("a") as growing:
        growing.write("c\n")
    assert granted_files(grants) == (newer,)  # which grew: the same sandbox sees it
    (tmp_path / "1.csv").unlink()
    (tmp_path / "1.csv").symlink_to("/etc/hostname")
    assert not granted_files(grants)


@pytest.mark.parametrize("level", ["container", "command", "gateway"])
def test_a_sandbox_elsewhere_is_not_asked_for_since_it_does_not_see_the_file(tmp_path: Path, level: Any) -> None:
    def ask(paths: str, question: str, lasting: Sequence[Grant]) -> None:
        raise AssertionError("nobody should be asked")

    with pytest.raises(VariableError, match=f"a sandbox of level {level} cannot see them"):
        require("x", [local(tmp_path / "1.csv")], SandboxPolicy(levels=(level,)), Grants(), ask)


@pytest.mark.parametrize(
    "kind",
    [
        pl.Enum(["Zoraquill", "b"]),
        pl.Struct({"k": pl.Enum(["Zoraquill"])}),
        pl.List(pl.Enum(["Zoraquill"])),
        pl.Int64,
    ],
    ids=str,
)
def test_the_columns_of_a_plan_are_told_by_types_without_the_values_of_an_enum(kind: Any) -> None:
    values = {"trips": pl.LazyFrame(schema={"a": kind}).filter(pl.col("a").is_not_null())}
    choice = choice_of(values, "trips")
    copied = Manifest(copied=(CopiedVariable(name="trips", type_name="LazyFrame", size_bytes=1),))
    summaries = describe(values, privacy="schema", mentioned="trips")
    told = choice.described(summaries, copied, lambda parts: describe(parts, privacy="schema", mentioned=""))
    text = render(told, budget_tokens=1000, mentioned="trips", count_tokens=len).text
    assert str(getattr(kind, "__name__", type(kind).__name__)) in text
    assert "Zoraquill" not in text
