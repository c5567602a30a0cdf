"""Programs that would change the user's variables: each is run as it was written, and as the rule leaves it."""

from __future__ import annotations

import contextlib
import copy
import io
import itertools
import pickle
import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from rule_calls import correct, fix, repair

from jupyter_codeagent.agent.rules.rule import Fix
from jupyter_codeagent.agent.rules.user_variables import MAX_CHARS, MAX_KEPT, keep_variables
from jupyter_codeagent.frontend.receipt_words import QUIET_NOTES
from jupyter_codeagent.types.sandbox import ExecutionError, NamespaceEntry
from jupyter_codeagent.types.variables import LiveNames

QUESTION = "What is the mean delay of each carrier?"


def users() -> dict[str, Any]:
    """The user's variables, anew."""
    return {
        "df": pd.DataFrame({"g": ["x", "y", "x", "y"], "n": [1.0, 2.0, np.nan, 4.0], "k": [4, 3, 2, 1]}),
        "other": pd.DataFrame({"g": ["x", "y"], "name": ["Ex", "Ypsilon"]}),
        "s": pd.Series([3.0, 1.0, np.nan], index=["a", "b", "c"], name="s"),
        "p": pl.DataFrame({"g": ["x", "y", "x"], "n": [1, 2, 3]}),
        "q": pl.Series("q", [3, 1, 2]),
        "a": np.array([3.0, 1.0, 2.0]),
        "m": np.arange(6).reshape(2, 3),
        "items": [3, 1, 2],
        "rows": [{"n": 1}, {"n": 2}],
        "prices": {"x": 1.0, "y": 2.0},
        "nested": {"x": [1], "y": [2]},
        "frames": {"one": pd.DataFrame({"n": [1, 2]})},
        "seen": {1, 2},
        "limit": 2,
        "text": "a,b",
    }


KINDS = {name: type(value).__name__ for name, value in users().items()}
LIVE = LiveNames(data={**KINDS, "p": "polars.DataFrame", "q": "polars.Series"}, taken=frozenset(KINDS))


def kept(code: str, prompt: str = QUESTION, **facts: Any) -> Fix | None:
    return fix(keep_variables, code, prompt=prompt, **{"live": LIVE, **facts})


def kept_code(code: str, prompt: str = QUESTION, **facts: Any) -> str:
    found = kept(code, prompt, **facts)
    return code if found is None else found.code


def run(code: str) -> tuple[str, dict[str, Any]]:
    """What the code prints and displays, or its error, and the namespace that it leaves."""
    namespace: dict[str, Any] = {**users(), "pd": pd, "np": np, "pl": pl}
    lines = code.rstrip().split("\n")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of programs that are written as small models write them
        try:
            exec(compile("\n".join(lines[:-1]), "cell", "exec"), namespace)
            print(eval(compile(lines[-1], "cell", "eval"), namespace))
        except Exception as error:
            print(type(error).__name__)
    return printed.getvalue(), namespace


def changed(namespace: dict[str, Any]) -> set[str]:
    """The user's variables that are not bit for bit as they were."""
    return {name for name, value in users().items() if name not in namespace or not _same(namespace[name], value)}


def _same(now: object, before: object) -> bool:
    return type(now) is type(before) and pickle.dumps(copy.deepcopy(now)) == pickle.dumps(copy.deepcopy(before))


IN_PANDAS = [
    "df['new'] = df.k * 2\ndf.new.sum()",
    "df['n'] = df.n.fillna(0)\ndf.n.mean()",
    "df['k'] += 1\ndf.k.tolist()",
    "df.k = df.k * 2\ndf.k.sum()",
    "df.loc[df.k > 2, 'n'] = 0\ndf.n.sum()",
    "df.iloc[0, 2] = 100\ndf.k.max()",
    "df.at[0, 'k'] = 9\ndf",
    "df.columns = ['a', 'b', 'c']\nlist(df)",
    "df.index = df.g\ndf.loc['x'].k.sum()",
    "df.index.name = 'i'\ndf.index.name",
    "df[['u', 'v']] = df[['n', 'k']]\ndf.shape",
    "del df['n']\nlist(df)",
    "del df['n'], df['k']\ndf.shape",
    "k = df.pop('k')\nk.sum() + df.shape[1]",
    "df.insert(0, 'z', 1)\nlist(df)",
    "df.update(pd.DataFrame({'k': [0, 0]}))\ndf.k.sum()",
    "df.drop(columns='n', inplace=True)\ndf.shape",
    "df.dropna(inplace=True)\nlen(df)",
    "df.rename(columns={'n': 'm'}, inplace=True)\nlist(df)",
    "df.sort_values('k', inplace=True)\ndf.k.iloc[0]",
    "df.set_index('g', inplace=True)\ndf.loc['x', 'k'].sum()",
    "df.fillna({'n': 0}, inplace=True)\ndf.n.sum()",
    "df['n'].fillna(0, inplace=True)\ndf.k.sum()",
    "df.query('k > 1', inplace=True)\nlen(df)",
    "df.eval('t = n + k', inplace=True)\ndf.t.sum()",
    "setattr(df, 'columns', ['a', 'b', 'c'])\nlist(df)",
    "df = df.dropna()\nlen(df)",
    "df = df[df.k > 1]\nlen(df)",
    "df = df[df.k > 1]\ndf['new'] = df.k\ndf.new.sum()",
    "df = df.merge(other, on='g')\ndf.name.tolist()",
    "df = df.groupby('g', as_index=False).k.sum()\ndf",
    "df = df.assign(new=lambda d: d.k * 2)\ndf = df.sort_values('new')\ndf.new.tolist()",
    "df = df.assign(new=lambda _: df.k * 2)\ndf.new.tolist()",
    "before = len(df)\ndf = df.dropna()\nafter = len(df)\nbefore - after",
    "before = df.n.mean()\ndf['n'] = df.n.fillna(0)\nbefore, df.n.mean()",
    "print(df.shape)\ndf = df.drop_duplicates('g')\ndf.shape",
    "print(df.shape)\ndf['new'] = 1\ndf.shape",
    "total = df = df.k\ntotal.sum() + df.sum()",
    "df, n = df.dropna(), 3\nlen(df) + n",
    "df += df\ndf",
    "df: pd.DataFrame = df.head(1)\nlen(df)",
    "d = df\nd['new'] = 1\nd.shape",
    "d = df\nd['new'] = 1\ndf.shape",
    "d = df\ndf['new'] = 1\nd.shape, df.shape",
    "n = len(df)\nd = df\nd['new'] = n\nd.new.sum()",
    "c = df['n']\nc[0] = 100\nc.sum()",
    "c = df['n']\nc.fillna(0, inplace=True)\nc.sum()",
    "x = df[df.k > 1]\nx['new'] = 1\nx.shape, df.shape",
    "v = df.k.to_numpy()\nw = v.copy()\nw[0] = 9\nw.sum()",
    "for c in ['n', 'k']:\n    df[c] = df[c] * 2\ndf.k.sum()",
    "for d in [df, other]:\n    d['new'] = 1\ndf.shape, other.shape",
    "for name, d in {'df': df}.items():\n    d['new'] = name\ndf.new.tolist()",
    "if len(df) > 1:\n    df = df.head(1)\nlen(df)",
    "while len(df) > 1:\n    df = df.iloc[1:]\nlen(df)",
    "try:\n    df['x'] = df.missing\nexcept AttributeError:\n    df['x'] = 0\ndf.x.sum()",
    "with pd.option_context('display.width', 80):\n    df['x'] = 1\ndf.shape",
    "def add(d):\n    d['new'] = 1\n    return d\nadd(df).shape, df.shape",
    "def add(d):\n    d['new'] = 1\n    return d\ndf = add(df)\ndf.shape",
    "def add(d):\n    d['new'] = 1\n    return d\ndf.pipe(add).shape, df.shape",
    "def add(df):\n    df = df.copy()\n    df['new'] = 1\n    return df\ndf = add(df)\ndf.shape",
    "def add():\n    df['new'] = 1\nadd()\ndf.shape",
    "def add():\n    global df\n    df = df.assign(new=1)\nadd()\ndf.shape",
    "def size():\n    return len(df)\ndf = df.dropna()\nsize()",
    "size = lambda: len(df)\nfirst = size()\ndf = df.dropna()\nfirst, size()",
    "class Table:\n    def size(self):\n        return len(df)\ndf = df.dropna()\nTable().size()",
    "late = (d for d in [1] if len(df) == 3)\ndf = df.dropna()\nlist(late)",
    "if (df := df.dropna()) is not None:\n    pass\nlen(df)",
    "[df.insert(0, c, 1) for c in 'uv']\nlist(df)",
    "df['new'] = 1\nf'{df.shape} {len(df):>{len(df)}} df'",
    "top = 1\ndf['new'] = 1\nlen(df.query('k > @top and new in @df.new'))",
    "df['df'] = 1\ndf.df.sum() + dict(df=2)['df']",
    "df['new'] = [df for df in range(4)]\ndf.new.sum()",
    "n = 1; df['new'] = n; m = 2\ndf.shape",
    "# Ä comment on df\ndf['é'] = 'é'; é = df.é\né.tolist(), df.shape",
    "df['month'] = df.k % 2\nother['name'] = other.name.str.upper()\ndf.merge(other, on='g').name.tolist()",
    "df = 5\ndf",
    "del df\n1",
    "n = len(df)\ndel df\nn",
    "for df in [1, 2]:\n    pass\ndf",
    "def df():\n    return 1\ndf()",
    "limit = 3\n(df.k > limit).sum()",
    "limit += 1\nlimit",
    "text = text.split(',')\ntext",
    "s[s > 2] = 0\ns.sum()",
    "s.name = 't'\ns.name",
    "s += 1\ns.sum()",
    "s.update(pd.Series({'a': 9.0}))\ns.max()",
    "s.sort_values(inplace=True)\ns.index.tolist()",
    "s = s.fillna(0)\ns.sum()",
    "s.pop('a')\nlen(s)",
]
IN_POLARS = [
    "p = p.with_columns(m=pl.col('n') * 2)\np['m'].sum()",
    "p = p.filter(pl.col('n') > 1)\nlen(p)",
    "p[0, 'n'] = 9\np['n'].sum()",
    "p.columns = ['a', 'b']\np.columns",
    "p.insert_column(0, pl.Series('z', [1, 2, 3]))\np.columns",
    "p.extend(p)\nlen(p)",
    "p.drop_in_place('n')\np.columns",
    "d = p\nd[0, 'n'] = 9\nd['n'].sum()",
    "d = p\nd[0, 'n'] = 9\np['n'].sum()",
    "for c in ['n']:\n    p = p.with_columns(pl.col(c) * 2)\np['n'].sum()",
    "q[0] = 9\nq.sum()",
    "q = q.sort()\nq.to_list()",
    "q.append(pl.Series([7]))\nlen(q)",
]
IN_NUMPY = [
    "a[0] = 1\na.sum()",
    "a += 1\na.sum()",
    "a *= 2; b = a\nb.sum()",
    "a.sort()\na.tolist()",
    "a = np.sort(a)\na.tolist()",
    "a = a[1:]\na[0] = 9\na.sum()",
    "b = a\nb[0] = 9\nb.sum()",
    "b = a[:2]\nb[0] = 9\na.sum() + b.sum()",
    "b = a[:2]\nb[0] = 9\nb.sum()",
    "m[:, 0] = 0\nm.sum()",
    "m.T[0] = 7\nm.sum()",
    "m.ravel()[0] = 7\nm.sum()",
    "m.shape = (3, 2)\nm.shape",
    "a.fill(1)\na.sum()",
    "np.clip(a, 0, 1, out=a)\na.sum()",
    "np.random.default_rng(2).shuffle(a)\na.sum()",
    "np.fill_diagonal(m, 0)\nm.sum()",
    "a.put([0], [5])\na.sum()",
    "for x in m:\n    x[0] = 5\nm.sum()",
    "def double(x):\n    x *= 2\n    return x\ndouble(a).sum() + a.sum()",
]
IN_CONTAINERS = [
    "items.append(4)\nitems",
    "items += [4]\nitems",
    "items.sort()\nitems",
    "items[0] = 9\nitems",
    "del items[0]\nitems",
    "items.remove(3)\nitems",
    "items = sorted(items)\nitems",
    "items = items + [4]\nitems.append(5)\nitems",
    "b = items\nb.append(4)\nb",
    "b = items\nb.append(4)\nitems",
    "import random\nrandom.Random(1).shuffle(items)\nsorted(items)",
    "import heapq\nheapq.heapify(items)\nitems[0]",
    "def add(x):\n    x.append(4)\nadd(items)\nitems",
    "for row in rows:\n    row['m'] = row['n'] * 2\nrows",
    "for i, row in enumerate(rows):\n    row['i'] = i\nrows",
    "rows[0]['n'] = 9\nrows",
    "rows.append({'n': 3})\nrows",
    "def mark(row):\n    row['seen'] = True\n    return row\nlist(map(mark, rows)), rows",
    "first = rows[0]\nfirst['n'] = 9\nrows",
    "prices['z'] = 3.0\nsum(prices.values())",
    "prices.update(x=5.0)\nprices",
    "prices.pop('x')\nprices",
    "prices |= {'z': 1.0}\nprices",
    "del prices['x']\nprices",
    "nested['x'].append(5)\nnested",
    "for name, values in nested.items():\n    values.append(0)\nnested",
    "nested.setdefault('z', []).append(1)\nnested",
    "frames['one']['new'] = 1\nframes['one'].shape",
    "seen.add(3)\nseen",
    "seen |= {3}\nseen",
]
ALL = [*IN_PANDAS, *IN_POLARS, *IN_NUMPY, *IN_CONTAINERS]
AS_THEY_ARE = {
    "x = df[df.k > 1]\nx['new'] = 1\nx.shape, df.shape",
    "v = df.k.to_numpy()\nw = v.copy()\nw[0] = 9\nw.sum()",
}
"""Programs that change nothing of the user's: pandas has copied the rows."""
OF_PANDAS_2 = {
    "df['n'].fillna(0, inplace=True)\ndf.k.sum()",
    "c = df['n']\nc[0] = 100\nc.sum()",
    "c = df['n']\nc.fillna(0, inplace=True)\nc.sum()",
    "def add(d):\n    d['new'] = 1\n    return d\ndf.pipe(add).shape, df.shape",
}
"""Programs that change something there only: pandas 3 copies what it hands out."""


@pytest.mark.parametrize("code", [code for code in ALL if code not in AS_THEY_ARE])
def test_the_users_variables_stay_bit_for_bit_and_the_result_is_the_same(code: str) -> None:
    wanted, before = run(code)
    found = kept(code)
    assert found is not None
    result, after = run(found.code)
    assert (result, changed(after)) == (wanted, set())
    assert changed(before) or code in OF_PANDAS_2
    assert all(any(quiet.fullmatch(note) for quiet in QUIET_NOTES) for note in found.notes)


@pytest.mark.parametrize("code", sorted(AS_THEY_ARE))
def test_a_program_that_changes_nothing_of_the_users_stays_as_it_is(code: str) -> None:
    assert kept(code) is None
    assert changed(run(code)[1]) == set()


STATEMENTS = [
    "df['new'] = 1",
    "df = df.dropna()",
    "df = df[df.k > 1]",
    "d = df",
    "d = df[['k']]",
    "c = df['k']",
    "d['z'] = 2",
    "c.iloc[0] = 7",
    "df.insert(0, 'u', 1)",
    "print(df.shape)",
    "n = len(df)",
    "f = lambda: df.shape",
    "print(f())",
    "if len(df) > 3: df = df.head(3)",
    "for x in [df]: x['w'] = 1",
]


def test_any_two_statements_between_two_others_leave_what_they_found_and_display_the_same() -> None:
    for pair in itertools.product(STATEMENTS, repeat=2):
        code = "\n".join(("d = df.copy(); c = df['k'].copy(); f = len", *pair, "df.shape, d.shape, c.sum()"))
        result, after = run(kept_code(code))
        assert (result, changed(after)) == (run(code)[0], set()), code


@pytest.mark.parametrize(
    "code",
    [
        "exec('df = 1')\ndf['x'] = 1",
        "df['x'] = 1\neval('df')",
        "globals()['df'] = 1",
        "from tables import *\ndf['x'] = 1",
        "df['x'] = 1\nget_ipython().run_line_magic('who', '')",
        "df['x'] = 1\nduckdb.sql('SELECT count(*) FROM df')",
        "df['x'] = 1\npd.eval('df.x + 1')",
        "late = 'k > @df.k.mean()'\ndf['x'] = 1\ndf.query(late)",
        "df['x'] = 1\nprint(f'{df.shape=}')",
        "import tables as df",
        "try:\n    pass\nexcept ValueError as df:\n    pass",
        "class A:\n    df = df.copy()\ndf['x'] = 1",
        "df['x'] = 1\n" + "# long\n" * MAX_CHARS,
        "df[",
    ],
)
def test_where_it_is_not_certain_what_is_meant_the_program_stays_as_it_is(code: str) -> None:
    assert kept(code) is None


@pytest.mark.parametrize(
    ("prompt", "changes"),
    [
        ("Add a column x to df.", True),
        ("Remove the duplicates and tell me how many rows are left.", True),
        ("Put the mean in a frame called df.", True),
        ("What is the mean without duplicates?", False),
        ("Remove the duplicates and call it unique.", False),
        ("Add a column x to other.", False),
    ],
)
def test_a_program_that_was_asked_to_change_a_variable_does(prompt: str, changes: bool) -> None:
    assert (kept("df['x'] = 1\ndf", prompt) is None) is changes


def test_of_two_variables_only_the_one_that_was_asked_about_changes() -> None:
    code = "other['key'] = other.g\ndf['name'] = df.g.map(other.set_index('key').name)\ndf"
    assert kept_code(code, "Add the name from other as a column to df.").split("\n") == [
        "other_2 = other.copy()",
        "other_2['key'] = other_2.g",
        "df['name'] = df.g.map(other_2.set_index('key').name)",
        "df",
    ]


def test_the_new_name_is_one_that_nothing_has() -> None:
    taken = LiveNames(data=LIVE.data, taken=frozenset({"df", "df_2"}))
    assert kept_code("df = df.dropna()\ndf", live=taken) == "df_3 = df.dropna()\ndf_3"
    assert kept_code("df_2 = 1\ndf = df.dropna()\ndf") == "df_2 = 1\ndf_3 = df.dropna()\ndf_3"
    second = LiveNames(data={"df_2": "DataFrame"})
    assert kept_code("df_2['x'] = 1\ndf_2", live=second).startswith("df_3 = df_2.copy()\n")
    of_a_year = LiveNames(data={"sales_2024": "DataFrame"})
    assert kept_code("sales_2024['x'] = 1", live=of_a_year).startswith("sales_2024_2 = sales_2024.copy()\n")


def test_the_copy_is_made_before_the_first_change_and_its_comment() -> None:
    code = "import pandas as pd\nprint(df.shape)\n# Month\n# of the date\ndf['m'] = 1\ndf"
    assert kept_code(code) == (
        "import pandas as pd\nprint(df.shape)\ndf_2 = df.copy()\n# Month\n# of the date\ndf_2['m'] = 1\ndf_2"
    )
    decorated = "@cache\ndef f():\n    df['m'] = 1\nf()"
    assert kept_code(decorated).startswith("df_2 = df.copy()\n@cache\ndef f():\n    df_2['m'] = 1")


def test_a_program_that_changes_more_variables_than_anybody_reads_keeps_the_first() -> None:
    many = LiveNames(data={f"t{at}": "DataFrame" for at in range(MAX_KEPT + 2)})
    found = kept("".join(f"t{at}['x'] = 1\n" for at in range(MAX_KEPT + 2)), live=many)
    assert found is not None
    assert len(found.notes) == MAX_KEPT


def test_what_other_rules_write_is_held_to_the_same() -> None:
    found = correct("df['n'].fillna(0, inplace=True)\ndf.n.sum()", prompt=QUESTION, live=LIVE, defined=["df"])
    assert found.code == "df_2 = df.copy()\ndf_2['n'] = df_2['n'].fillna(0)\ndf_2.n.sum()"
    assert found.rules == ("assign-back", "keep-variables")
    error = ExecutionError(
        ename="AttributeError", evalue="Can only use .dt accessor with datetimelike values", line=1
    )
    frame = NamespaceEntry(name="df", type_name="DataFrame", columns=("day",), dtypes=("object",))
    repaired = repair("df['day'].dt.month.max()", error, [frame])
    assert repaired is not None
    assert repaired.rules == ("convert-dates",)
    assert re.match(r"import pandas as pd\n\ndf\['day'\] = ", repaired.code)
    repaired = repair("df['day'].dt.month.max()", error, [frame], prompt=QUESTION, live=LIVE)
    assert repaired is not None
    assert repaired.rules == ("convert-dates", "keep-variables")
    assert "df_2['day'] = " in repaired.code
    assert "df_2['day'].dt.month.max()" in repaired.code
