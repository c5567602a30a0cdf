"""Columns that the user hides: in a real kernel with the real sandbox, and the bytes that a model receives."""

from __future__ import annotations

import json

import pytest
from kernel_client import Kernel
from model_server import ModelServer, code

FRAME = (
    "df['tailnum'] = ['canary-N1', 'canary-N2', 'canary-N3']\ndf['dep delay'] = [71423, 71424, 71425]\nother = df\n"
)
SPOOL_HAS_CANARY = (
    "from jupyter_codeagent.entrypoints import extension\n"
    "spool = next(iter(extension._loaded.values()))[0].workspace._directory.path\n"
    "files = [path.read_bytes() for path in spool.rglob('*') if path.is_file()]\n"
    "print('SPOOL', len(files) > 0, any(b'canary-N2' in file for file in files))"
)
COLUMNS = code("print(sorted(df.columns), df['n'].sum())")


def test_a_hidden_column_is_neither_told_nor_copied_under_any_name_of_its_frame(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(f"{FRAME}\nmade = df[['city', 'tailnum']].copy()")
    hidden = kernel.run("%agent hide df[tailnum,'dep delay']")
    assert "df['dep delay', 'tailnum']: hidden" in hidden.text
    assert "made has 'tailnum', too: `%agent hide made['tailnum']` hides it there." in hidden.text
    assert "other has" not in hidden.text
    assert "has" not in kernel.run("%agent hide made['tailnum']").text
    model_server.script(COLUMNS, "x", code("print(sorted(other.columns))"), "x")
    assert "['city', 'n'] 7" in kernel.ask("what columns are there?", "--vars df --privacy samples").text
    assert "['city', 'n']" in kernel.ask("and in the other?", "--vars other --privacy samples").text
    sent = json.dumps(model_server.requests)
    for canary in ("canary", "7142", "tailnum", "dep delay"):
        assert canary not in sent
    assert "city" in sent
    assert "['city', 'n', 'tailnum', 'dep delay']" in kernel.run("print(list(df.columns))").text


@pytest.mark.long("another case of what a test beside it proves")
def test_a_column_that_is_shown_again_is_told_and_copied(kernel: Kernel, model_server: ModelServer) -> None:
    kernel.run(FRAME)
    kernel.run("%agent hide df[tailnum]")
    kernel.run("%agent share df[tailnum]")
    model_server.script(COLUMNS, "x")
    assert "'tailnum'" in kernel.ask("what columns are there?").text
    assert "tailnum" in json.dumps(model_server.requests)


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_column_hidden_after_its_copy_was_made_leaves_sandbox_and_conversation(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(FRAME)
    model_server.script(code("kept = df['tailnum'].iloc[1]\nprint(kept)"), "x")
    assert "canary-N2" in kernel.ask("the second tail number").text
    assert "SPOOL True True" in kernel.run(SPOOL_HAS_CANARY).text
    kernel.run("%agent hide df[tailnum]")
    model_server.script(code("print('kept' in globals(), 'tailnum' in df.columns)"), "x")
    assert "False False" in kernel.ask("is it there?").text
    assert "canary" not in json.dumps(model_server.requests)
    assert "tailnum" not in json.dumps(model_server.requests[0])
    assert "SPOOL True False" in kernel.run(SPOOL_HAS_CANARY).text


@pytest.mark.long("another case of what a test beside it proves")
def test_an_old_copy_of_a_hidden_column_is_gone_whatever_is_asked_next(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(FRAME + "import pandas as pd\nrest = pd.DataFrame({'z': [1]})")
    model_server.script(code("print(df.shape)"), "x", code("print(rest.shape)"), "x")
    kernel.ask("how large is df?", "--vars df")
    assert "SPOOL True True" in kernel.run(SPOOL_HAS_CANARY).text
    kernel.run("%agent hide df[tailnum]")
    assert "(1, 1)" in kernel.ask("how large is rest?", "--vars rest").text
    assert "SPOOL True False" in kernel.run(SPOOL_HAS_CANARY).text


@pytest.mark.long("another case of what a test beside it proves")
def test_code_that_asks_for_a_hidden_column_is_told_that_it_is_hidden(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(FRAME)
    kernel.run("%agent hide df[tailnum]")
    model_server.script(code("df['tailnum'].nunique()"), COLUMNS, "x")
    assert kernel.ask("how many planes?").error == ""
    assert "'tailnum' of df: hidden by the user" in model_server.requests[1]["messages"][-1]["content"]
    asked = kernel.ask("how many planes?", "--vars df[n,tailnum]")
    assert "df['tailnum'] is hidden from the agent; run `%agent share df['tailnum']` first." in asked.error


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_variable_whose_columns_cannot_be_left_out_is_hidden_as_a_whole(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(FRAME)
    kernel.run("%agent hide df[tailnum]")
    kernel.run("df = df.groupby('tailnum')")
    model_server.script(code("print('df' in globals())"), "x")
    asked = kernel.ask("sum", "--vars df")
    assert "'df' is hidden as a whole: columns of " in asked.error
    assert "%agent share df['tailnum']" in asked.error
    assert model_server.requests == []
    kernel.run("del other")
    assert "False" in kernel.ask("sum").text
    assert "DataFrameGroupBy" not in json.dumps(model_server.requests)


@pytest.mark.long("another case of what a test beside it proves")
def test_nothing_that_holds_a_hidden_column_is_copied_or_told_and_the_reason_is_said(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(FRAME)
    kernel.run("df.attrs['before'] = [df.copy()]\nplanes = df.groupby('tailnum')\nbox = [[df]]")
    kernel.run("%agent hide df[tailnum,'dep delay']")
    model_server.script(COLUMNS, "x")
    assert "['city', 'n'] 7" in kernel.ask("what columns are there in df, box and planes?").text
    for canary in ("canary", "7142", "tailnum", "dep delay"):
        assert canary not in json.dumps(model_server.requests)
    assert "SPOOL True False" in kernel.run(SPOOL_HAS_CANARY).text
    asked = kernel.ask("how many?", "--vars planes")
    assert "'planes' is not shared with the agent: it is a pandas DataFrameGroupBy of 'tailnum'" in asked.error
    assert (
        "'box' cannot be copied: it holds 'df', of which something is hidden" in kernel.ask("?", "--vars box").error
    )


@pytest.mark.long("another situation of what a test beside it proves")
def test_what_cannot_be_hidden_is_one_line_and_hides_nothing(kernel: Kernel) -> None:
    kernel.run(FRAME + "text = 'n'")
    for words, error in (
        ("df[tailnun]", "df has no column 'tailnun'; did you mean 'tailnum'?"),
        ("df[]", "names no column"),
        ("df[n", "is not a list of variables and columns"),
        ("nosuch[n]", "There is no variable 'nosuch'"),
        ("text[n]", "'text': columns of str values cannot be left out. `%agent hide text` hides it as a whole."),
    ):
        ran = kernel.run(f"%agent hide df[city], {words}")
        assert error in ran.error
        assert "hidden" not in kernel.run("%agent status").text
