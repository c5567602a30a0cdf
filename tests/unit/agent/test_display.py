"""Corrections before the code runs: certain ones only, layout kept."""

from __future__ import annotations

import ast

import numpy as np
import pandas as pd
import pytest
from rule_calls import correct, fix, fixed

from jupyter_codeagent.agent.rules.api_changes import METHODS_RENAMED, NUMPY_RENAMED, modern_names
from jupyter_codeagent.agent.rules.display import display_last, quiet_plot, unwrap_return
from jupyter_codeagent.agent.rules.imports import add_imports
from jupyter_codeagent.agent.rules.loading import drop_reloads


@pytest.mark.parametrize(
    ("code", "last"),
    [
        ("result = df.mean()", "result"),
        ("a, b = 1, 2", "a, b"),
        ("df['x'] = 1", "df"),
        ("df.loc[0, 'x'] = 1", "df"),
        ("total = 0\nfor x in xs:\n    total += x", "total"),
        ("out = {}\nfor k in ks:\n    out[k] = 1", "out"),
        ("df.sort_values('x', inplace=True)", "df"),
        ("names = []\nnames.append('x')", "names"),
        ("x: int = 1", "x"),
    ],
)
def test_code_that_shows_nothing_shows_its_last_value(code: str, last: str) -> None:
    assert fixed(display_last, code) == f"{code}\n{last}"


@pytest.mark.parametrize(
    "code",
    [
        "print(x)",
        "x = 1\nx",
        "display(df)",
        "fig, ax = plt.subplots()\nax.plot(x)\ny = 1",
        "ax = df.plot()",
        "df['x'].hist()",
        "for x in xs:\n    print(x)",
        "def f():\n    return 1",
        "import pandas as pd",
        "x = (",
        "",
    ],
)
def test_code_that_shows_something_or_has_no_value_is_left_alone(code: str) -> None:
    assert fixed(display_last, code) == code


def test_all_results_that_nothing_uses_are_shown() -> None:
    code = "n = df.size\nmean = df.mean()\ntop = mean.nlargest(3)\nlow = mean.min()"
    assert fixed(display_last, code) == f"{code}\ndisplay(n, top, low)"


def test_several_figures_that_nothing_shows_are_printed_with_their_names() -> None:
    code = 'a = df[df["p"] == 1]["f"].mean()\nb = df["f"].std().round(2)\nshare = round(b / len(df) * 100, 1)'
    assert fixed(display_last, code) == f'{code}\nprint("a:", a)\nprint("share:", share)'
    grouped = 'a = df["f"].mean()\ng = df.groupby("p")["f"].mean()'
    assert fixed(display_last, grouped) == f"{grouped}\ndisplay(a, g)"


def test_a_plot_as_last_expression_gets_a_semicolon() -> None:
    assert fixed(quiet_plot, "m = df.mean()\nm.plot(kind='bar')") == "m = df.mean()\nm.plot(kind='bar');"
    assert fixed(quiet_plot, "df['x'].hist(bins=40)") == "df['x'].hist(bins=40);"


@pytest.mark.parametrize("code", ["df.mean()", "plt.show()", "df.plot();", "df.plot()  # a line", "x = df.plot()"])
def test_other_last_lines_get_no_semicolon(code: str) -> None:
    assert fixed(quiet_plot, code) == code


def test_known_aliases_are_imported_only_where_they_are_missing() -> None:
    code = "plt.plot(np.arange(3))\nstats.norm"
    assert (
        fixed(add_imports, code, defined={"np"})
        == "import matplotlib.pyplot as plt\nfrom scipy import stats\n\n" + code
    )
    assert fixed(add_imports, "import numpy as np\nnp.pi", defined=set()) == "import numpy as np\nnp.pi"
    assert fixed(add_imports, "stats = df.describe()\nstats", defined=set()) == "stats = df.describe()\nstats"
    assert fixed(add_imports, "def f(re):\n    return re", defined=set()) == "def f(re):\n    return re"


@pytest.mark.parametrize(
    "line",
    [
        "df = pd.read_csv('data.csv')",
        "df = pd.read_parquet(path)",
        "df = pl.read_csv('data.csv')",
        "df = pd.DataFrame({'a': [1, 2],\n                   'b': [-3, 4]})",
        "df = sns.load_dataset('penguins')",
    ],
)
def test_a_copied_variable_is_not_loaded_again(line: str) -> None:
    prepared = fix(drop_reloads, f"import pandas as pd\n{line}\nprint(df.shape)  # both", copied=["df"])
    assert prepared is not None
    assert prepared.code == "import pandas as pd\nprint(df.shape)  # both"
    assert prepared.notes == ("line 2 dropped: df is loaded already",)


@pytest.mark.parametrize(
    "line",
    [
        "new = pd.read_csv('data.csv')",
        "df = pd.DataFrame({'a': df['a'] * 2})",
        "df = pd.DataFrame({'a': values})",
        "df = df.dropna()",
        "df = pd.read_csv('data.csv').dropna()",
        "df = load_and_clean(raw)",
        "df = pd.DataFrame()",
    ],
)
def test_other_assignments_stay(line: str) -> None:
    assert fixed(drop_reloads, line, copied=["df"]) == line


def test_a_program_that_only_loads_shows_the_variable() -> None:
    assert fixed(drop_reloads, "df = pd.read_csv('data.csv')", copied=["df"]) == "df"


def test_statements_that_share_a_line_are_not_torn_apart() -> None:
    code = "df = pd.read_csv('x.csv'); print(df)"
    assert fixed(drop_reloads, code, copied=["df"]) == code


def test_removed_names_become_those_of_today() -> None:
    code = "x = np.NaN  # gap\ny = df.applymap(str).fillna(method='ffill')\nz = np.in1d(a, b).astype(np.float)"
    prepared = fix(modern_names, code)
    assert prepared is not None
    assert prepared.code == "x = np.nan  # gap\ny = df.map(str).ffill()\nz = np.isin(a, b).astype(float)"
    assert "applymap is now map" in prepared.notes


@pytest.mark.parametrize("new", [*NUMPY_RENAMED.values()])
def test_the_numpy_name_of_today_exists(new: str) -> None:
    assert hasattr(np, new)


@pytest.mark.parametrize(("old", "new"), METHODS_RENAMED.items())
def test_the_pandas_name_of_today_exists(old: str, new: str) -> None:
    assert hasattr(pd.Series, new) or hasattr(pd.DataFrame, new)


def test_names_of_today_are_left_alone() -> None:
    code = "rows.append(1)\nx = np.nan\ndf.map(str)\ndf.fillna(0)\ndt.to_period('M')"
    assert fixed(modern_names, code) == code


def test_a_final_return_becomes_an_expression() -> None:
    assert fixed(unwrap_return, "x = 1\nreturn x + 1") == "x = 1\nx + 1"
    assert fixed(unwrap_return, "def f():\n    return 1") == "def f():\n    return 1"


def test_columns_behind_non_ascii_text_are_edited_at_the_right_place() -> None:
    assert fixed(modern_names, "größe = 'äöü🎉', np.NaN, df.applymap(f)") == "größe = 'äöü🎉', np.nan, df.map(f)"


def test_all_corrections_together_are_noted_and_keep_comments() -> None:
    prepared = correct(
        "# mean delay\ndf = pd.read_csv('flights.csv')\nm = df.groupby('carrier')['delay'].agg(np.mean)  # NaN out",
        copied=["df"],
        defined=["pd"],
    )
    assert prepared.code == (
        "import numpy as np\n\n# mean delay\nm = df.groupby('carrier')['delay'].agg(np.mean)  # NaN out\nm"
    )
    assert prepared.notes == (
        "line 2 dropped: df is loaded already",
        "the last value is shown",
        "added: import numpy as np",
    )


def test_code_that_needs_nothing_comes_back_unchanged() -> None:
    code = "print(df.shape)"
    assert correct(code, copied=["df"]).code == code
    assert correct(code, copied=["df"]).notes == ()


def test_what_does_not_parse_comes_back_unchanged() -> None:
    assert correct("x = = 1").code == "x = = 1"


@pytest.mark.parametrize(
    "code", ["df.applymap(\n    f\n)", "np.NaN if x else np.Inf", "return 1", "x = np.float(np.NaN)"]
)
def test_prepared_code_parses(code: str) -> None:
    ast.parse(correct(code).code)
