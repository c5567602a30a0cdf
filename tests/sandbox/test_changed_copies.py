"""What the code did to the copies of the user's variables, as a real sandbox tells it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sandbox_box import Box

from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.sandbox.persistent import PersistentSandbox
from jupyter_codeagent.types.sandbox import CopyChange, ExecutionResult, SandboxPolicy
from jupyter_codeagent.types.variables import Manifest

ROWS = 30_000
IMPORTS = ("import numpy as np", "import pandas as pd", "import polars as pl")


def values() -> dict[str, Any]:
    """Copies large enough to be mapped, and small ones that are not."""
    numbers = np.arange(ROWS, dtype="float64")
    return {
        "df": pd.DataFrame(
            {
                "x": numbers,
                "n": np.arange(ROWS),
                "s": [f"s{at % 7}" for at in range(ROWS)],
                "o": pd.Series([f"o{at % 7}" for at in range(ROWS)], dtype=object),
                "c": pd.Categorical(["u", "v"] * (ROWS // 2)),
            }
        ),
        "wide": pd.DataFrame(np.ones((ROWS, 4))),
        "series": pd.Series(numbers, name="x"),
        "array": np.zeros((300, 200)),
        "numbers": [3, 1, 2],
        "settings": {"k": 1, "deep": [1]},
        "pf": pl.DataFrame({"x": numbers, "s": ["a", "b"] * (ROWS // 2)}),
    }


class Sandbox:
    """One sandbox of a notebook, with the copies of `values`."""

    def __init__(self, box: Box, persistent: PersistentSandbox, manifest: Manifest) -> None:
        self._box = box
        self.persistent = persistent
        self.manifest = manifest

    def prepare(self) -> None:
        self._box.call(self.persistent.prepare(self.manifest))

    def run(self, code: str) -> ExecutionResult:
        result = self._box.call(self.persistent.execute(code, timeout_s=60))
        assert result.error is None, result.error
        return result

    def text(self, code: str) -> str:
        return "".join(o["text"] for o in self.run(code).outputs if o["output_type"] == "stream").strip()


class OneSandbox:
    def __init__(self, kernel: SandboxKernel) -> None:
        self._kernel = kernel

    async def take(self) -> SandboxKernel:
        return self._kernel


@pytest.fixture(scope="module")
def started(
    loop_thread: Callable[[Coroutine[Any, Any, Any]], Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Box, Manifest]]:
    directory: Path = tmp_path_factory.mktemp("copies")
    spool = Spool(directory, max_bytes=1 << 30)
    exported = spool.export(values(), list(values()), required=True)
    manifest = Manifest(copied=exported.copied, modules=IMPORTS)
    kernel = loop_thread(SandboxKernel.start(policy=SandboxPolicy(), data_dir=directory))
    yield Box(kernel, loop_thread, directory), manifest
    loop_thread(kernel.stop())


@pytest.fixture
def sandbox(started: tuple[Box, Manifest]) -> Sandbox:
    """With copies as they were loaded."""
    box, manifest = started
    made = Sandbox(box, PersistentSandbox(OneSandbox(box.kernel)), manifest)
    made.prepare()
    return made


def changed(
    name: str,
    *,
    added: tuple[str, ...] = (),
    removed: tuple[str, ...] = (),
    values: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> CopyChange:
    return CopyChange(name=name, kind="changed", added=added, removed=removed, values=values, notes=notes)


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("df.loc[5, 'x'] = -1", changed("df", values=("'x'",))),
        ("df['speed'] = df.x / 2", changed("df", added=("'speed'",))),
        ("df.drop(columns='n', inplace=True)", changed("df", removed=("'n'",))),
        ("df.sort_values('x', ascending=False, inplace=True)", changed("df", notes=("order of rows",))),
        ("df.index = range(1, 1 + len(df))", changed("df", notes=("index",))),
        ("df['n'] = df.n.astype('float32')", changed("df", notes=("'n' int64 → float32",))),
        ("df.loc[0, 's'] = 'other'", changed("df", values=("'s'",))),
        ("df['o'] = df.o.str.upper()", changed("df", values=("'o'",))),
        ("df.rename(columns={'x': 'y'}, inplace=True)", changed("df", added=("'y'",), removed=("'x'",))),
        ("df.drop(index=range(10), inplace=True)", changed("df", notes=("30,000 → 29,990 rows",))),
        ("wide.iloc[7, 2] = 5", changed("wide", values=("2",))),
        ("series.iloc[3] = 99", changed("series", notes=("values",))),
        ("array[3, 3] = 7", changed("array", notes=("values",))),
        ("array += 1", changed("array", notes=("values",))),
        ("numbers.append(4)", changed("numbers", notes=("3 → 4 items",))),
        ("numbers.sort()", changed("numbers", notes=("values",))),
        ("settings['z'] = 2", changed("settings", added=("'z'",))),
        ("settings['deep'].append(2)", changed("settings", values=("'deep'",))),
        ("pf[0, 'x'] = 9.0", changed("pf", values=("'x'",))),
        ("pf.insert_column(0, pl.Series('q', [1] * len(pf)))", changed("pf", added=("'q'",))),
        ("pf = pf.with_columns(z=1)", CopyChange(name="pf", kind="rebound", added=("'z'",))),
        ("df = df[df.x > 9]", CopyChange(name="df", kind="rebound", notes=("30,000 → 29,990 rows",))),
        ("df = df.x.sum()", CopyChange(name="df", kind="rebound", notes=("DataFrame → float64",))),
        ("del numbers", CopyChange(name="numbers", kind="deleted")),
    ],
)
def test_the_copy_that_the_code_changed_is_named_with_what_changed(
    sandbox: Sandbox, code: str, change: CopyChange
) -> None:
    assert sandbox.run(code).changes == (change,)


@pytest.mark.parametrize(
    "code",
    [
        "df.describe(); df.sort_values('x'); df.groupby('s').x.mean(); df.values; df.info()",
        "wide.T; wide.corr(); series.rolling(3).mean(); array.sum(); sorted(numbers); pf.describe()",
        "copy = df.copy(); copy['x'] = 0; copy.loc[0, 's'] = 'q'",
        "df['n'] = df['n'] * 1; df['s'] = df['s'].str.strip(); array.sort(); array += 0",
        "view = series; head = array[:3]; [numbers.append(1), numbers.pop()]",
    ],
)
def test_a_run_that_changes_nothing_says_nothing(sandbox: Sandbox, code: str) -> None:
    assert sandbox.run(code).changes == ()


def test_every_level_notices_one_value_among_many(box: Box, tmp_path: Path) -> None:
    """Landlock has a list of what may be read of /proc; bubblewrap has its own /proc."""
    spool = Spool(box.data_dir, max_bytes=1 << 30)
    frame = pd.DataFrame({"a": np.zeros(4_000_000), "b": np.zeros(4_000_000)})
    copied = spool.export({"large": frame}, ["large"], required=True).copied
    box.call(box.kernel.load(copied, ()))
    assert box.run("large.sum()").changes == ()
    assert box.run("large.loc[3_999_999, 'b'] = 1").changes == (changed("large", values=("'b'",)),)
    spool.close()


@pytest.mark.long("another situation of what a test beside it proves")
def test_what_an_earlier_run_changed_is_told_as_such_until_it_changes_again(sandbox: Sandbox) -> None:
    sandbox.run("df.loc[5, 'x'] = -1")
    sandbox.persistent.keep_changes()
    assert [change.earlier for change in sandbox.run("1").changes] == [True]
    assert [change.earlier for change in sandbox.run("df.loc[6, 'x'] = -1").changes] == [False]


def test_another_attempt_starts_from_the_copies_as_they_were(sandbox: Sandbox) -> None:
    """Else a program that is written anew after an error would double what it had doubled."""
    for _ in range(2):
        sandbox.persistent.undo_attempt()
        assert sandbox.text("numbers += [4]; df['x'] = df.x + 1; print(len(numbers), df.x[0])") == "4 1.0"


@pytest.mark.long("another situation of what a test beside it proves")
def test_what_a_kept_run_changed_stays_for_the_next_one(sandbox: Sandbox) -> None:
    sandbox.run("numbers.append(4)")
    sandbox.persistent.keep_changes()
    sandbox.run("df.drop(columns='n', inplace=True)")
    sandbox.prepare()  # as the next run does; the last one was not kept
    assert sandbox.text("print(len(numbers), 'n' in df)") == "4 True"
    assert [change.name for change in sandbox.persistent.changes_of(sandbox.manifest)] == ["numbers"]


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_copy_that_was_deleted_is_there_again_in_the_next_run(sandbox: Sandbox) -> None:
    sandbox.run("del df")
    sandbox.persistent.keep_changes()
    sandbox.prepare()
    assert sandbox.text("print(len(df))") == "30000"


def test_changes_of_names_that_were_never_copied_are_not_believed(sandbox: Sandbox) -> None:
    lie = {"name": "evil", "kind": "deleted"}
    sandbox.run(f"import sys; sys.modules['codeagent_inside.changes'].report = lambda _: [{lie!r}]")
    try:
        assert sandbox.run("1").changes == ()
    finally:
        sandbox.run("import importlib; importlib.reload(sys.modules['codeagent_inside.changes'])")


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_rebound_copy_does_not_keep_its_memory(sandbox: Sandbox) -> None:
    code = "import weakref; df['o'] = df.o + '!'; watch = weakref.ref(df); df = 1"
    sandbox.run(code)
    assert sandbox.text("import gc; gc.collect(); print(watch() is None)") == "True"


MADE = "import pandas as pd; made = pd.DataFrame({'a': [1, 2]}); same = made; parts = {'x': [1], 'made': made}"
STATE = "print(list(made), made.a.tolist(), same is made, parts['x'], len(parts), array2.sum())"
ATTEMPT = """
made['b'] = 0; made.loc[0, 'a'] = 9; parts['x'].append(2); parts['y'] = 1; array2 += 1
same = None
fresh = 1
"""


@pytest.fixture
def second_run(sandbox: Sandbox) -> Sandbox:
    """A sandbox with what an earlier program made."""
    sandbox.run(f"{MADE}; array2 = np.zeros(3)")
    sandbox.persistent.keep_changes()
    return sandbox


BEFORE = "['a'] [1, 2] True [1] 2 0.0"


def test_another_attempt_starts_from_what_earlier_programs_made_as_it_was(second_run: Sandbox) -> None:
    """Else its accepted cell fails in the notebook, where the failed attempt never ran."""
    for _ in range(2):
        second_run.persistent.undo_attempt()
        assert second_run.text(STATE) == BEFORE
        second_run.run(ATTEMPT)


def test_a_failed_run_leaves_what_earlier_programs_made_as_it_was_and_says_so_at_once(second_run: Sandbox) -> None:
    second_run.run(ATTEMPT)
    second_run.persistent.undo_attempt()
    columns = {entry.name: entry.columns for entry in second_run.persistent.variables}
    assert columns["made"] == ("a",)
    assert "fresh" in columns, "what only the attempt made stays"
    second_run.prepare()
    assert second_run.text(STATE) == BEFORE
    packed = second_run._box.call(second_run.persistent.fetch("fresh", max_bytes=1000))
    assert packed.kind == "json"


def test_what_a_kept_run_changed_is_what_the_next_attempt_starts_from(second_run: Sandbox) -> None:
    second_run.run(ATTEMPT)
    second_run.persistent.keep_changes()
    for _ in range(2):
        second_run.persistent.undo_attempt()
        assert second_run.text("print(list(made), made.a.tolist(), array2.sum())") == "['a', 'b'] [9, 2] 3.0"
        second_run.run("del made; array2 -= 7")


def test_a_copy_that_a_kept_run_changed_is_as_that_run_left_it(sandbox: Sandbox) -> None:
    sandbox.run("df['twice'] = df.x * 2")
    sandbox.persistent.keep_changes()
    for _ in range(2):
        sandbox.persistent.undo_attempt()
        assert sandbox.text("print(list(df)[-1], df.x[5])") == "twice 5.0"
        changes = sandbox.run("1").changes
        assert [(change.name, change.kind, change.earlier) for change in changes] == [("df", "changed", True)]
        sandbox.run("df['x'] = 0.0; del df['twice']")
    sandbox.persistent.reload(["df"])
    sandbox.prepare()
    sandbox.persistent.undo_attempt()
    assert sandbox.text("print(list(df)[-1])") == "c", "a copy that was loaded anew is not the earlier one"
