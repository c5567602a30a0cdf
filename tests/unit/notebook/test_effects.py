"""What code would do to names, told from its text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jupyter_codeagent.notebook.effects import code_effects, effects_on_namespace, format_effects
from jupyter_codeagent.notebook.effects.analysis import MAX_CODE_CHARS
from jupyter_codeagent.notebook.effects.visitor import InPlace
from jupyter_codeagent.types.approvals import Effects, NamedValue

DF = "DataFrame 1000x4"


def names(values: tuple[NamedValue, ...]) -> list[str]:
    return [value.name for value in values]


def against(code: str, *, in_kernel: bool = True, **live: str) -> Effects:
    return effects_on_namespace(code_effects(code), live, include_missing=in_kernel)


@pytest.mark.parametrize(
    ("code", "binds"),
    [
        ("a = 1", "a"),
        ("a, (b, *c) = x", "a b c"),
        ("a: int = 1", "a"),
        ("a: int", ""),
        ("a += 1", "a"),
        ("for a, b in x: pass", "a b"),
        ("with f() as a, g() as (b, c): pass", "a b c"),
        ("import a.b, c as d\nfrom e import f, g as h", "a d f h"),
        ("def a(b): c = 1", "a"),
        ("async def a(): pass", "a"),
        ("class A:\n b = 1\n def c(self): d = 1", "A"),
        ("if (a := f()): pass", "a"),
        ("x = [b := y for y in z]", "b x"),
        ("def f():\n global a\n a = 1", "f a"),
        ("try: pass\nexcept E as a: pass", "a"),
        ("match x:\n case {'k': a, **b}: pass\n case [c, *d]: pass\n case P() as e: pass", "a b c d e"),
        ("x = lambda a: a", "x"),
        ("[a for a in b]", ""),
        ("%matplotlib inline\na = 1", "a"),
    ],
)
def test_every_way_to_bind_a_name_is_seen(code: str, binds: str) -> None:
    assert sorted(code_effects(code).binds) == sorted(binds.split())


@pytest.mark.parametrize(
    ("code", "reads"),
    [
        ("df.head()", "df"),
        ("df = 1\ndf", ""),
        ("df = df.dropna()", "df"),
        ("if c:\n df = 1\ndf", "c df"),
        ("if c:\n df = 1\nelse:\n df = 2\ndf", "c"),
        ("for x in xs: pass\nx", "xs x"),
        ("def f(df): return df + y", "y"),
        ("def f():\n df = 1\n return df", ""),
        ("class A:\n b = c\n def d(self): return b", "c b"),
        ("[df for df in dfs]", "dfs"),
        ("df.query('n > @least')", "df least"),
        ("f'{df}'", "df"),
        ("del df", ""),
        ("x += 1", "x"),
    ],
)
def test_a_name_is_read_only_where_the_code_has_not_surely_made_it(code: str, reads: str) -> None:
    assert sorted(code_effects(code).reads) == sorted(reads.split())


@pytest.mark.parametrize(
    "code",
    [
        *("df['x'] = 1", "df.loc[df.n > 1, 'x'] = 1", "df.x = 1", "df['x'] += 1", "del df['x']", "del df.x"),
        *("df.drop(columns='x', inplace=True)", "df.insert(0, 'x', 1)", "x = df.pop('x')", "df.columns.append(1)"),
        *("setattr(df, 'x', 1)", "import random\nrandom.shuffle(df)", "from random import shuffle\nshuffle(df)"),
        *("d = df\nd['x'] = 1", "for row in df: row['x'] = 1", "for i, row in enumerate(df): row.append(1)"),
        *("def f(d):\n d['x'] = 1\nf(df)", "def f(a, d):\n d['x'] = 1\nf(1, d=df)", "[d.append(1) for d in df]"),
        *("a = df['x'].to_numpy()\na[0] = 1", "a, b = df, 1\na['x'] = 1", "d = df\nd += [1]", "df.fit(X, y)"),
        *("df.add(1)", "df.add_(1)", "if c:\n d = df\nelse:\n d = {}\nd['x'] = 1", "for df['x'] in y: pass"),
        *("with f() as df['x']: pass", "(d := df)['x'] = 1", "for k, v in df.items(): v.append(1)"),
        "try:\n d = df\nfinally:\n d['x'] = 1",
        "match df:\n case d: d['x'] = 1",
        "def f():\n df['x'] = 1",
        "class A:\n def f(self): df['x'] = 1",
        "x = {'a': df}\nx['a']['b'] = 1",
        "x = list(df)\nx[0]['a'] = 1",
        "for x in sorted(df): x['a'] = 1",
        "x = [d for d in df if d]\nx[0]['a'] = 1",
        "x = {k: v for k, v in df.items()}\nx['a'].append(1)",
        "def f(d): d['x'] = 1\ndf.pipe(f)",
        "def f(d): d['x'] = 1\nlist(map(f, df))",
        "def f(d): d += 1\nf(df)",
        "import numpy as np\nnp.clip(df, 0, 1, out=df)",
    ],
)
def test_a_change_in_place_is_seen_also_through_another_name(code: str) -> None:
    assert names(against(code, df=DF).changes) == ["df"]


@pytest.mark.parametrize(
    "code",
    [
        *(
            "df.drop(columns='x')",
            "df.drop(columns='x', inplace=False)",
            "d = df.copy()\nd['x'] = 1",
            "y = df.add(1)",
        ),
        *(
            "df = df.copy()\ndf['x'] = 1",
            "def f(df): df['x'] = 1",
            "x = [df.n for df in y]",
            "df.n.sum()",
            "df == 1",
        ),
        "d = df\nd = {}\nd['x'] = 1",
        "lambda df: df.append(1)",
        "x = list(df)\nx.append(1)\nx += [1]\ny = x\ny[0] = 1",
        "x = [d.copy() for d in df]\nx[0]['a'] = 1",
        "n = df.shape[0]\nn += 1",
        "n = df[0]\nn += 1",
    ],
)
def test_what_leaves_the_value_as_it_is_is_not_called_a_change(code: str) -> None:
    assert against(code, df=DF).changes == ()


def test_how_a_value_is_changed_is_told() -> None:
    found = code_effects("a.append(1)\na[0].sort()\nb['x'] = 1\nx = c[0]\nx += 1").in_place
    assert found["a"] == {InPlace(method="append"), InPlace(method="sort", inside=True)}
    assert found["b"] == {InPlace()}
    assert found["c"] == {InPlace(method="+=", inside=True)}


def test_numbers_and_texts_are_never_changed_in_place() -> None:
    assert against("def f(n): n += 1\nf(total)\ntext.partition(',')", total="int", text="str of 5").changes == ()


def test_a_function_of_a_module_is_no_change_of_it_but_its_settings_are() -> None:
    assert against("np.append(a, b)", np="module", a="list of 1", b="list of 1").changes == ()
    assert names(against("plt.rcParams['x'] = 1", plt="module").changes) == ["plt"]
    assert names(against("plt.rcParams.update(x)", plt="module").changes) == ["plt"]


def test_created_overwritten_read_and_deleted_are_told_against_the_names_that_exist() -> None:
    effects = against(
        "import numpy as np\ntotal = df['n'].sum() + gone\ndf = 1\nlist = 2\ndel old\nprint(pd)",
        df=DF,
        old="list of 4",
        pd="module",
    )
    assert effects.reads == (NamedValue(name="df", what=DF),)
    assert effects.creates == (
        NamedValue(name="np"),
        NamedValue(name="total"),
        NamedValue(name="list", what="shadows a Python built-in"),
    )
    assert effects.overwrites == (NamedValue(name="df", what=DF),)
    assert effects.deletes == (NamedValue(name="old", what="list of 4"),)
    assert effects.missing == ("gone",)
    assert effects.unclear == ()


def test_in_the_sandbox_a_name_that_the_kernel_lacks_may_come_from_an_earlier_run() -> None:
    assert against("totals.max()", in_kernel=False).missing == ()


def test_names_that_could_not_be_looked_up_are_said_not_guessed() -> None:
    effects = effects_on_namespace(code_effects("a = df\ndf['x'] = 1"), None, include_missing=True)
    assert (effects.creates, effects.overwrites) == ((), ())
    assert "busy" in effects.unclear[0]
    assert "it binds: a" in effects.unclear[0]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def f(:", "cannot be read as Python"),
        ("a = 1\x00", "cannot be read as Python"),
        ("x = " + "-" * 29_000 + "1", "nested too deeply"),
        ("%%bash\nrm -r x", "cell magic"),
        ("!rm x", "% or !"),
        ("%reset -f", "% or !"),
        ("x = !ls", "cannot be read as Python"),
        ("df?", "cannot be read as Python"),
        ("exec('a = 1')", "exec"),
        ("eval('a')", "eval"),
        ("globals()['a'] = 1", "globals"),
        ("locals()", "locals"),
        ("vars()['a'] = 1", "vars"),
        ("get_ipython().user_ns", "get_ipython"),
        ("from os import *", "everything from os"),
        ("import os\nos.system('x')", "os.system"),
        ("import subprocess\nsubprocess.run(['x'])", "subprocess.run"),
        ("open(p, mode)", "not in the text"),
        ("f.__globals__['a'] = 1", "__globals__"),
        ("a" * 30_001, "was not read"),
        ("from os import system\nsystem('x')", "starts other programs (os.system)"),
        ("import os as o\no.system('x')", "starts other programs (os.system)"),
        ("import subprocess as sp\nsp.run(['x'])", "can start other programs"),
        ("from __main__ import df as d\nd['a'] = 1", "through __main__"),
        ("import builtins\nbuiltins.exec('a = 1')", "builtins"),
        ("import importlib\nimportlib.import_module('os').system('x')", "imports by text"),
        ("e = eval\ne('a')", "eval"),
    ],
)
def test_what_the_text_cannot_tell_is_said(code: str, said: str) -> None:
    assert said in "; ".join(code_effects(code).unclear)


@pytest.mark.parametrize(
    ("code", "writes"),
    [
        ("df.to_csv('a.csv')", ["'a.csv'"]),
        ("df.to_csv(path_or_buf=p)", ["p"]),
        ("text = df.to_csv()", []),
        ("open('a', 'w')", ["'a'"]),
        ("open('a', mode='ab')", ["'a'"]),
        ("open('a')", []),
        ("open('a', 'rb')", []),
        ("Path('a').open('w')", ["Path('a')"]),
        ("Path('a').write_text('x')", ["Path('a')"]),
        ("import gzip\ngzip.open('a', 'wb')", ["'a'"]),
        ("import os\nos.remove(p)", ["p"]),
        ("import shutil\nshutil.rmtree('d')", ["'d'"]),
        ("import numpy as np\nnp.save('a', x)", ["'a'"]),
        ("import numpy\nnumpy.save('a', x)", ["'a'"]),
        ("from shutil import rmtree\nrmtree('d')", ["'d'"]),
        ("import shutil as s\ns.rmtree('d')", ["'d'"]),
        ("from os import remove as gone\ngone(p)", ["p"]),
        ("from gzip import open as unzip\nunzip('a', 'wb')", ["'a'"]),
        ("df.rename(columns={})", []),
        ("fig.savefig('a.png')", ["'a.png'"]),
    ],
)
def test_files_that_are_surely_written_or_removed_are_named(code: str, writes: list[str]) -> None:
    assert list(code_effects(code).writes) == writes


def test_no_code_of_this_project_and_no_beginning_of_it_makes_the_reader_fail() -> None:
    """Odd code: whole modules, and each cut in the middle of something."""
    for path in Path(__file__).parents[1].glob("frontend/test_*.py"):
        text = path.read_text(encoding="utf-8")[:MAX_CODE_CHARS]
        text = text[: text.rindex("\n\n\n") + 1]  # whole definitions
        whole = code_effects(text)
        tops = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        assert {node.name for node in tops} <= set(whole.binds)
        assert not any("\0" in name for name in whole.names)
        for end in range(0, len(text), max(1, len(text) // 40)):
            code_effects(text[:end])


def test_the_lines_for_a_terminal_say_each_kind_of_effect_in_words() -> None:
    effects = against("a = df.n\nb = 1\nx['k'] = 1\nopen('f', 'w')\neval(s)", df=DF, b="int", x="dict of 1")
    assert format_effects(effects) == (
        "Reads: df (DataFrame 1000x4), x (dict of 1)",
        "Would create: a",
        "Would overwrite: b (int)",
        "Would change in place (as far as can be seen): x (dict of 1)",
        "Does not exist in your kernel: s",
        "Would write or remove files: 'f'",
        "Cannot be determined from the code: it runs text as code (eval)",
    )


def test_warnings_about_the_code_are_not_printed(recwarn: pytest.WarningsRecorder) -> None:
    code_effects("x = '\\d'\nif x is 1: pass")
    assert not recwarn.list
