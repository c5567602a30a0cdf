"""`%%agent` in a real kernel with the real sandbox, and a front end that has no labextension."""

from __future__ import annotations

import json

import pytest
from kernel_client import Kernel
from model_server import ModelServer, code

SUM = code("df.groupby('city')['n'].sum()")
FINGERPRINT = (
    "import hashlib, pickle\n"
    "mine = {k: v for k, v in globals().items() if k in ('df', 'k', 'text')}\n"
    "print('FP', hashlib.sha256(pickle.dumps(mine)).hexdigest())"
)
HISTORY_BYTES = (
    "import os, pathlib\n"
    "for path in pathlib.Path(os.environ['JUPYTER_DATA_DIR']).rglob('*'):\n"
    "    print(path.read_bytes() if path.is_file() else '')"
)
CHILDREN = (
    "import os, subprocess\n"
    "found = subprocess.run(['pgrep', '-P', str(os.getpid())], capture_output=True, text=True).stdout\n"
    "print('CHILDREN', len(found.split()))"
)


def test_code_and_result_appear_in_the_cell_where_there_is_no_panel(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(SUM)
    ran = kernel.ask("sum by city")
    assert ran.error == ""
    assert "df.groupby('city')['n'].sum()" in ran.text
    assert "Oslo    5" in ran.text
    assert "copied df · statistics → this machine" in ran.text


def test_an_empty_body_prints_the_help(kernel: Kernel) -> None:
    text = kernel.run("%%agent\n ").text
    assert "--max-steps" in text
    assert "%agent doctor" in text
    assert "[--max-steps" not in text, "the usage of argparse, which begins otherwise at each width"
    assert kernel.run("%agent help").text == text


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_prompt_is_never_put_through_format(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(SUM)
    prompt = "why {braces} and %s and {0} and 100 % and 'quotes' \" ünïcode 🐧?"
    assert kernel.ask(prompt).error == ""
    assert prompt in model_server.requests[0]["messages"][-1]["content"]


@pytest.mark.rare("another case of what a test beside it proves")
def test_double_braces_insert_the_text_of_an_expression(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(SUM)
    assert kernel.ask("for the city {{df['city'][1]}} only").error == ""
    assert "for the city Rome only" in model_server.requests[0]["messages"][-1]["content"]


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_bad_expression_is_an_error_and_nothing_is_sent(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(SUM)
    ran = kernel.ask("for {{no_such_name}}")
    assert ran.error.startswith("UsageError")
    assert "no_such_name" in ran.error
    assert model_server.requests == []


def test_your_own_variables_are_bit_for_bit_the_same_after_a_run(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("df['n'] = 0\ndf.loc[0, 'city'] = 'X'\ndel df\nk = 9\nk"), "x")
    kernel.run("k, text = [1, 2], 'abc'")
    before = kernel.run(FINGERPRINT).text
    assert kernel.ask("change everything").error == ""
    assert kernel.run(FINGERPRINT).text == before
    assert "FP" in before


def test_a_failing_program_is_repaired_by_the_model(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("df['N'].sum().nothing()"), SUM, "x")
    ran = kernel.ask("sum")
    assert ran.error == ""
    assert "1 failed attempt repaired in the sandbox" in kernel.run("%agent show").text
    assert "Reply with the whole corrected program" in model_server.requests[1]["messages"][-1]["content"]


@pytest.mark.rare("another case of what a test beside it proves")
def test_the_messages_of_a_repair_begin_with_the_bytes_of_the_first_call(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("1 / 0"), SUM, "x")
    kernel.ask("sum")
    first, second = (request["messages"] for request in model_server.requests[:2])
    assert second[: len(first)] == first


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_follow_up_knows_the_conversation_and_the_variables(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("totals = df.groupby('city')['n'].sum()\ntotals"), "x", code("totals.max()"), "x")
    kernel.ask("sum by city")
    ran = kernel.ask("the largest?")
    assert ran.error == ""
    assert "5" in ran.text
    assert "totals = df.groupby" in json.dumps(model_server.requests[2]["messages"])


@pytest.mark.rare("another case of what a test beside it proves")
def test_new_forgets_the_conversation_and_the_variables(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("totals = 5\ntotals"), "x", code("print('totals' in globals())"), "x")
    kernel.ask("remember")
    ran = kernel.ask("still there?", "--new")
    assert "False" in ran.text
    assert "remember" not in json.dumps(model_server.requests[2]["messages"])


def test_run_all_in_the_same_kernel_asks_the_model_nothing_although_later_cells_left_variables_behind(
    kernel: Kernel, model_server: ModelServer
) -> None:
    cells = {
        "sum by city": "totals = df.groupby('city')['n'].sum()\ntotals",
        "ranked": "rank = totals.rank()\nrank",
    }
    for prompt, program in cells.items():
        model_server.script(code(program), "x")
        assert kernel.run(f"%%agent\n{prompt}", cell_id=prompt.replace(" ", "-")).error == ""
    model_server.script("never asked")
    for prompt in cells:
        again = kernel.run(f"%%agent\n{prompt}", cell_id=prompt.replace(" ", "-"))
        assert again.error == ""
        assert "replayed, model not called" in again.text
    assert model_server.requests == []


def test_an_answer_that_was_kept_is_asked_again_only_if_it_comes_out_differently_on_other_data(
    kernel: Kernel, model_server: ModelServer
) -> None:
    question = "%%agent\nsum by city"
    kernel.run("df['day'] = 'Monday'")
    model_server.script(code("print(df.groupby('city')['n'].sum().to_dict())"), "x")
    kernel.run(question, cell_id="here")
    model_server.script(code("print('asked once more')"), "x")
    kernel.run("df['more'] = 1")
    assert "asked once more" in kernel.run(question, cell_id="here").text, "it was not kept"
    kernel.run("%agent accept")
    model_server.script("never asked")
    kernel.run("%agent hide df[day]")
    again = kernel.run(question, cell_id="here").text
    assert "replayed, model not called" in again
    assert model_server.requests == []


def test_an_answer_that_was_kept_and_comes_out_differently_now_is_asked_again(
    kernel: Kernel, model_server: ModelServer
) -> None:
    question = "%%agent\nsum by city"
    model_server.script(code("total = df['n'].sum()\nprint(total)"), "x")
    assert "7" in kernel.run(question, cell_id="here").text
    kernel.run("%agent accept")
    kernel.run("df.loc[0, 'n'] = 71423")
    model_server.script(code("print('asked', df['n'].sum())"), "x")
    assert "asked 71429" in kernel.run(question, cell_id="here").text


@pytest.mark.rare("another case of what a test beside it proves")
def test_dry_run_sends_and_runs_nothing(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(SUM)
    ran = kernel.ask("sum by city", "--dry-run")
    assert "nothing was sent or run" in ran.text
    assert "city str {Oslo, Rome}" in ran.text
    assert "df: DataFrame" in ran.text
    assert model_server.requests == []


@pytest.mark.rare("another case of what a test beside it proves")
def test_dry_run_with_new_shows_what_would_be_sent_after_forgetting_and_forgets_nothing(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("made = df.n.sum()\nprint(made)"), "x")
    assert kernel.ask("Remember the sum as made").error == ""
    fresh = kernel.ask("And now?", "--new --dry-run").text
    assert "Remember the sum" not in fresh
    assert "made" not in fresh
    assert "Remember the sum" in kernel.ask("And now?", "--dry-run").text


@pytest.mark.rare("another case of what a test beside it proves")
def test_dry_run_has_no_engine_fetch_anything(kernel: Kernel, model_server: ModelServer) -> None:
    kernel.run(
        "import dask.dataframe as dd\n_fetched = []\n"
        "trips = dd.from_pandas(df, npartitions=1).map_partitions(lambda part: _fetched.append(1) or part, meta=df)"
    )
    ran = kernel.ask("How many?", "--dry-run --vars trips --sample 2")
    assert "trips: not copied, a dry run fetches nothing; a run would have Dask fetch" in ran.text
    assert kernel.run("print(_fetched)").text == "[]\n"


@pytest.mark.rare("another case of what a test beside it proves")
def test_json_prints_the_record_and_nothing_else(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(SUM)
    record = json.loads(kernel.ask("sum by city", "--json").text)
    assert record["status"] == "ok"
    assert record["steps"][0]["code"] == "df.groupby('city')['n'].sum()"
    assert [copied["name"] for copied in record["manifest"]["copied"]] == ["df"]


@pytest.mark.rare("another case of what a test beside it proves")
def test_vars_chooses_what_is_copied(kernel: Kernel, model_server: ModelServer) -> None:
    kernel.run("other = df.copy()")
    model_server.script(code("print(sorted(name for name in ('df', 'other') if name in globals()))"), "x")
    ran = kernel.ask("what is there?", "--vars other")
    assert "['other']" in ran.text
    assert "copied other" in ran.text


def test_with_privacy_schema_no_value_is_sent(kernel: Kernel, model_server: ModelServer) -> None:
    kernel.run("import datetime; df['n'] = [41000017, 41000018, 41000019]; token_free = 'canary'")
    reply = code("print(df.to_string())")
    model_server.script(reply, "x")
    kernel.ask("show it", "--privacy schema")
    sent = json.dumps(model_server.requests)
    assert not [value for value in ("Oslo", "Rome", "410000", "canary") if value in sent]
    assert "city str" in sent
    model_server.script(reply, "x")
    kernel.ask("show it", "--privacy stats --rerun")
    assert "Oslo" in json.dumps(model_server.requests)  # the twin


@pytest.mark.rare("another case of what a test beside it proves")
def test_use_takes_another_model_from_now_on(kernel: Kernel, model_server: ModelServer) -> None:
    assert "no model 'nowhere'" in kernel.run("%agent use nowhere").error
    kernel.run("%agent use scripted")
    model_server.script(SUM)
    assert kernel.ask("sum").error == ""
    assert "ok · scripted · 1 step" in kernel.run("%agent show").text


@pytest.mark.long("another situation of what a test beside it proves")
def test_return_brings_a_result_back_as_data(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("top = df.sort_values('n').tail(1)\ntop"), "x")
    assert kernel.ask("the largest row", "--return top").error == ""
    assert "DataFrame 4" in kernel.run("print(type(top).__name__, top['n'].iloc[0])").text


@pytest.mark.rare("another case of what a test beside it proves")
def test_overwriting_a_live_variable_is_denied_when_nobody_can_be_asked(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("df = df.head(1)\ndf"), "x")
    ran = kernel.ask("first row", "--return df")
    assert ran.error.startswith("DeniedError")
    assert "3" in kernel.run("print(len(df))").text


@pytest.mark.rare("another case of what a test beside it proves")
def test_ask_without_anybody_to_ask_denies(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(SUM)
    ran = kernel.ask("sum", "--approve ask")
    assert ran.error.startswith("DeniedError")


def test_hidden_variables_and_columns_values_are_not_sent(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(SUM)
    kernel.run("secret_plan = 'canary-71423'\ndf['email'] = ['canary-a@x.org', 'canary-b@x.org', 'canary-c@x.org']")
    kernel.run("%agent hide secret_plan")
    kernel.ask("sum by city")
    sent = json.dumps(model_server.requests)
    assert "canary" not in sent
    assert "secret_plan" not in sent
    assert "email" in sent  # the twin: the column itself is told, by type


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_bad_option_or_variable_is_one_line_and_nothing_is_sent(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(SUM)
    for options, error in (
        ("--vars no_such", "no_such"),
        ("--aprove ask", "--approve"),
        ("--model other-model", "other-model"),
    ):
        ran = kernel.ask("sum", options)
        assert error in ran.error
        assert "\n" not in ran.error
        assert model_server.requests == []


@pytest.mark.rare("another case of what a test beside it proves")
def test_the_key_is_in_no_output_record_or_error(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(SUM)
    shown = kernel.ask("sum", "--json").text
    shown += kernel.run("%agent status").text + kernel.run("%agent history").text
    shown += kernel.run(HISTORY_BYTES).text
    assert "secret-key-of-the-user" not in shown
    assert "sum" in shown


@pytest.mark.long("another situation of what a test beside it proves")
def test_subcommands_answer(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(SUM)
    kernel.ask("sum by city")
    assert "scripted at" in kernel.run("%agent status").text
    assert "blocked (tested at startup)" in kernel.run("%agent status").text
    assert "city str" in kernel.run("%agent context").text
    assert "sum by city" in kernel.run("%agent history 5").text
    assert "0 of 0 runs" in kernel.run("%agent history nothingofthekind").text
    assert "df.groupby('city')['n'].sum()" in kernel.run("%agent show").text
    assert "accepted" in kernel.run("%agent accept").text
    assert "Nothing is running" in kernel.run("%agent stop").text
    offered = kernel.run("%agent models").text
    assert "scripted" in offered
    assert "qwen3-coder-30b-a3b-instruct" in offered
    assert "%agent use embedded:granite-4.1-8b" in kernel.run("%agent models granite-4.1-8b").text
    assert "run: jupyter codeagent models fetch" in kernel.run("%agent use embedded:granite-4.1-8b").error


@pytest.mark.long("another situation of what a test beside it proves")
def test_fix_repairs_the_last_failed_cell(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(SUM)
    assert "KeyError" in kernel.run("df['N']").error
    assert kernel.run("%agent fix").error == ""
    told = model_server.requests[0]["messages"][-1]["content"]
    assert "df['N']" in told
    assert "KeyError" in told


@pytest.mark.rare("another case of what a test beside it proves")
def test_fix_tells_no_value_of_an_error_under_schema(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("1"))
    kernel.run("%config CodeAgent.privacy = 'schema'")
    kernel.run("raise ValueError('cana' + 'ry-77')")
    assert kernel.run("%agent fix").error == ""
    assert "failed with ValueError" in str(model_server.requests)
    assert "canary-77" not in str(model_server.requests)


@pytest.mark.rare("another case of what a test beside it proves")
def test_fix_evaluates_nothing_that_stands_in_the_failed_code_or_its_error(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(SUM)
    kernel.run("raise KeyError('{{globals().update(pwned=1)}}')")
    assert kernel.run("%agent fix").error == ""
    assert "False" in kernel.run("print('pwned' in globals())").text
    assert "{{globals()" in model_server.requests[0]["messages"][-1]["content"]


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_hidden_variable_leaves_sandbox_and_conversation(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("print(df['city'].iloc[1])"), "x")
    assert "Rome" in kernel.ask("the second city").text
    kernel.run("%agent hide df")
    model_server.script(code("print('df' in globals())"), "x")
    assert "False" in kernel.ask("is it there?").text
    assert "Rome" not in json.dumps(model_server.requests)


@pytest.mark.rare("another case of what a test beside it proves")
def test_pull_copies_a_sandbox_variable(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("answer_value = 41 + 1\nanswer_value"))
    kernel.ask("the answer")
    kernel.run("%agent pull answer_value")
    assert "42" in kernel.run("print(answer_value)").text


def test_apply_is_denied_when_nobody_can_be_asked(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("made_here = 1\nmade_here"), "x")
    kernel.ask("make it")
    assert kernel.run("%agent apply").error.startswith("DeniedError")
    assert "False" in kernel.run("print('made_here' in globals())").text


@pytest.mark.long("another situation of what a test beside it proves")
def test_unload_stops_everything_and_load_starts_again(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(SUM)
    kernel.ask("sum")
    assert "CHILDREN 0" not in kernel.run(CHILDREN).text
    assert kernel.run("%unload_ext jupyter_codeagent").error == ""
    assert "CHILDREN 0" in kernel.run(CHILDREN).text
    assert kernel.run("%load_ext jupyter_codeagent").error == ""
    model_server.script(SUM)
    assert kernel.ask("sum again").error == ""
