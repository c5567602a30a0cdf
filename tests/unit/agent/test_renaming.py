"""One variable of a program gets another name wherever it is meant, and nowhere else."""

from __future__ import annotations

import pytest

from jupyter_codeagent.agent.renaming import NotRenamableError, find_mentions, rename
from jupyter_codeagent.agent.source import parse


def renamed(code: str) -> str:
    tree = parse(code)
    assert tree is not None
    return rename(code, tree, "df", "new", find_mentions(tree, "df"))


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("df['df'] = df.df", "new['df'] = new.df"),
        ("f(df=df)", "f(df=new)"),
        ("# df\nx = 'df'", "# df\nx = 'df'"),
        ("f'{df.n:>{df.k}} df'", "f'{new.n:>{new.k}} df'"),
        ("é = 'é'; df.é", "é = 'é'; new.é"),
        ("[df for df in df if df]", "[df for df in new if df]"),
        ("{k: df for k in df}", "{k: new for k in new}"),
        ("(df for x in y for df in x)", "(df for x in y for df in x)"),
        ("[x for x in df for y in df[x]]", "[x for x in new for y in new[x]]"),
        ("def f(df, a=df): return df", "def f(df, a=new): return df"),
        ("def f(): return df", "def f(): return new"),
        ("def f():\n df = 1\n return df", "def f():\n df = 1\n return df"),
        ("def f():\n global a, df\n df = 1", "def f():\n global a, new\n new = 1"),
        (
            "def f(df):\n def g():\n  global df\n  return df\n return df",
            "def f(df):\n def g():\n  global new\n  return new\n return df",
        ),
        ("lambda df: df\nlambda x: df", "lambda df: df\nlambda x: new"),
        (
            "@df\nclass A(df):\n x = df\n def f(self): return df",
            "@new\nclass A(new):\n x = new\n def f(self): return new",
        ),
        ("def df(): pass\nasync  def g(): df()", "def new(): pass\nasync  def g(): new()"),
        ("df.query('a > @df.n and df > 1 and @dfs')", "new.query('a > @new.n and df > 1 and @dfs')"),
        ("if (df := 1): del df", "if (new := 1): del new"),
        ("for df.x in df: pass", "for new.x in new: pass"),
    ],
)
def test_a_name_is_renamed_in_the_scopes_that_mean_it(code: str, wanted: str) -> None:
    assert renamed(code) == wanted


@pytest.mark.parametrize(
    "code",
    [
        "import a as df",
        "from a import df",
        "try: pass\nexcept E as df: pass",
        "match x:\n case [df]: pass",
        "match x:\n case [*df]: pass",
        "match x:\n case {**df}: pass",
        "class df: pass",
        "class A:\n x = df\n df = 1",
        "f'{df=}'",
        "q = '@df'",
        "df.query(f'a > @df.{n}')",
        "pd.eval('df.a + 1')",
        "pl.sql('select * from df')",
        "duckdb.query('SELECT 1 FROM a JOIN \"df\" USING (b)')",
    ],
)
def test_where_it_is_not_certain_what_is_meant_nothing_is_renamed(code: str) -> None:
    with pytest.raises(NotRenamableError):
        renamed(code)


def test_a_mention_knows_its_statement_and_whether_it_binds_and_runs_later() -> None:
    tree = parse("df = 1\ndef f():\n    df.head()\nprint(df)")
    assert tree is not None
    found = [(one.statement, one.binds, one.is_deferred) for one in find_mentions(tree, "df")]
    assert found == [(0, True, False), (1, False, True), (2, False, False)]
