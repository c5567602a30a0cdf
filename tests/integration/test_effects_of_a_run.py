"""What a run leaves: copies that differ, variables in the sandbox, and what the next question is told of them."""

from __future__ import annotations

import pytest
from kernel_client import Kernel
from model_server import ModelServer, code


def last_message(model_server: ModelServer, at: int) -> str:
    return str(model_server.requests[at]["messages"][-1]["content"])


def last_code(kernel: Kernel) -> str:
    run_id = kernel.run("%agent history 1").text.split()[0]
    return kernel.run(
        f"from jupyter_codeagent.history import HistoryStore\nprint(HistoryStore().load({run_id!r}).code)"
    ).text


def test_the_receipt_names_the_copy_that_the_code_changed_and_the_users_own_is_untouched(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("df['twice'] = df['n'] * 2\nprint(df['twice'].sum())"), "x")
    assert "changed its copy of df (+ 'twice')" in kernel.ask("add twice the n to df as a column").text
    assert kernel.run("print('twice' in df)").text.strip() == "False"


def test_a_question_leaves_the_frame_as_it_is_also_when_its_code_is_accepted_and_run(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("df['twice'] = df['n'] * 2\nprint('SUM', df['twice'].sum())"), "x")
    asked = kernel.ask("twice the n, in total?")
    assert "SUM 14" in asked.text
    assert "copy of df" not in asked.text
    assert "works on df_2: df stays as it is" in kernel.run("%agent show").text
    kernel.run("%agent accept")
    assert "SUM 14" in kernel.run(last_code(kernel)).text
    assert kernel.run("print(list(df), list(df_2))").text.strip() == "['city', 'n'] ['city', 'n', 'twice']"
    model_server.script(code("df_2['thrice'] = df['n'] * 3\ndf['n'] = 0\nprint(df_2['thrice'].sum())"), "x")
    assert "21" in kernel.ask("And thrice?").text  # df_2 is the user's by now
    kernel.run("%agent accept")
    kernel.run(last_code(kernel))
    assert kernel.run("print(list(df), df['n'].sum(), list(df_2))").text.strip() == (
        "['city', 'n'] 7 ['city', 'n', 'twice']"
    )


@pytest.mark.parametrize("privacy", ["stats", "schema"])
def test_the_next_question_is_told_of_the_variable_that_the_code_made_in_place_of_the_users(
    privacy: str, kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("df['twice'] = df['n'] * 2\nprint(df['twice'].sum())"), "x")
    kernel.ask("twice the n, in total?", f"--privacy {privacy}")
    model_server.script(code("print('TOP', df_2['twice'].max())"), "x")
    assert "TOP 8" in kernel.ask("and the largest?", f"--privacy {privacy}").text
    said = [message["content"] for message in model_server.requests[0]["messages"]]
    assert any("df_2 = df.copy()\ndf_2['twice'] = df_2['n'] * 2\n" in text for text in said)
    assert "\ndf_2: DataFrame" in said[-1]


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_run_that_changes_no_copy_says_nothing_of_copies(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("print(df.assign(z=1)['z'].sum())"), "x")
    assert "copy of df" not in kernel.ask("sum of df").text


@pytest.mark.rare("another case of what a test beside it proves")
def test_the_next_question_is_told_of_new_variables_and_of_the_changed_copy(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(
        code("df['twice'] = df['n'] * 2\nby_city = df.groupby('city', as_index=False)['twice'].sum()\nby_city"),
        code("print(by_city['twice'].max())"),
    )
    kernel.ask("add a column with twice the n to df and sum it by city")
    ran = kernel.ask("the largest of them in df")
    assert ran.error == ""
    told = last_message(model_server, 1)
    assert "\nby_city: DataFrame 2x2 (city, twice), made by the code above\n" in told
    assert "df also has 'twice'" in told
    assert "its copy of df was changed by an earlier run (+ 'twice')" in ran.text


@pytest.mark.rare("another case of what a test beside it proves")
def test_columns_that_code_made_of_personal_values_are_masked_for_the_next_question(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run("import pandas as pd\npeople = pd.DataFrame({'name': ['Anna Meier', 'Ben Kurz'], 'n': [1, 2]})")
    model_server.script(
        code("pv = people.pivot_table(columns='name', values='n')\nprint(pv.columns[0])"),
        code("print(2)"),
    )
    assert "Anna Meier" in kernel.ask("pivot people").text
    assert kernel.ask("and people now?").error == ""
    assert "pv: DataFrame" in last_message(model_server, 1)
    assert "Anna Meier" not in str(model_server.requests)


@pytest.mark.long("another situation of what a test beside it proves")
def test_what_a_failed_run_did_is_undone_and_told_to_nobody(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("df['y'] = 1\nraise ValueError('no')"), code("print('y' in df.columns)"), "x")
    assert "ValueError" in kernel.ask("add a column y to df", "--max-steps 1").error
    assert "False" in kernel.ask("is there a y in df?").text
    assert "'y'" not in last_message(model_server, 1)
    assert "In the sandbox" not in last_message(model_server, 1)


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_program_that_is_written_anew_after_an_error_starts_from_the_copies(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(
        code("df['n'] = df['n'] * 2\nprint(df['nothing like it at all'])"),
        *(code("df['n'] = df['n'] * 2\nprint('SUM', df['n'].sum())"), "x"),
    )
    assert "SUM 14" in kernel.ask("set the n of df to twice its value").text


@pytest.mark.rare("another case of what a test beside it proves")
def test_the_same_question_again_starts_from_the_copies_it_had_changed(
    kernel: Kernel, model_server: ModelServer
) -> None:
    doubled = code("df['n'] = df['n'] * 2\nprint('SUM', df['n'].sum())")
    model_server.script(doubled, "x", doubled, "x")
    for _ in range(2):
        assert "SUM 14" in kernel.run("%%agent --rerun\nset the n of df to twice its value", cell_id="again").text


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_cell_binds_anew_what_it_has_made_and_what_it_is_to_return_and_another_cell_does_not(
    kernel: Kernel, model_server: ModelServer
) -> None:
    for cell, options, bound in (
        ("a", "--return most", "most ="),
        ("a", "--rerun", "most ="),
        ("b", "", "most_2 ="),
    ):
        model_server.script(code("most = df[df['n'] > 1]\nprint(len(most))"), "x")
        kernel.run(f"%%agent {options}\nlargest n", cell_id=cell)
        assert last_code(kernel).startswith(bound)


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_result_is_returned_with_the_run_and_never_over_a_variable_without_a_yes(
    kernel: Kernel, model_server: ModelServer
) -> None:
    script = code("top = df['n'].nlargest(1).tolist()\ntop")
    model_server.script(script, "x", script, "x")
    kernel.run("%%agent --return top\nlargest n of df")
    assert kernel.run("print(top)").text.strip() == "[4]"
    kernel.run("top = 'mine'")
    assert "DeniedError" in kernel.run("%%agent --return top --rerun\nlargest n of df").error
    assert kernel.run("print(top)").text.strip() == "mine"


def test_steps_tells_what_the_code_did_to_the_rows_and_what_it_assumed(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("df[df['n'] > 1]['n'].mean()"), "It is 3.")
    kernel.run("df.loc[0, 'n'] = None")
    kernel.run("%%agent\nWhat is the mean of n above 1?")
    steps = kernel.run("%agent steps").text
    assert "checked: nothing lost, repeated or mixed up in 2 observed steps" in steps
    assert "line 1: filter df['n'] > 1: " in steps
    assert "line 1: mean of n: " in steps
