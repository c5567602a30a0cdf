"""What the model is told of the variables, in a real kernel: order, budget, joins, counting, and what is shown."""

from __future__ import annotations

import json

import pytest
from kernel_client import Kernel
from model_server import ModelServer, code

SHOPS = (
    "cities = pd.DataFrame({'city_id': range(1000, 1020), 'country': ['NO', 'IT'] * 10})\n"
    "shops = pd.DataFrame({'shop': range(400), 'city_id': [1000 + i % 20 for i in range(400)]})"
)
JOIN = "tables join on: shops.city_id = cities.city_id"


def sent_to(server: ModelServer) -> str:
    return json.dumps(server.requests[-1]["messages"])


def test_context_takes_a_question_and_shows_order_text_and_cost(kernel: Kernel) -> None:
    kernel.run(SHOPS)
    shown = kernel.run("%agent context how many cities").text
    assert shown.startswith("cities: DataFrame 20x2")
    assert JOIN in shown
    assert "tokens, estimated; the budget is 600" in shown
    assert "\n  cities" in shown
    assert "\n  (joins)" in shown


@pytest.mark.rare("another case of what a test beside it proves")
def test_the_models_own_tokenizer_counts_where_its_server_offers_it(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.tokenizer = lambda body: {"tokens": [0] * len(body["content"])}
    shown = kernel.run("%agent context").text
    text = model_server.tokenized[-1]["content"]
    assert f"variables: {len(text)} tokens, counted by the model's tokenizer" in shown
    assert text.splitlines()[0] in shown


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_budget_holds_by_the_count_of_the_models_tokenizer(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("1"), "x")
    model_server.tokenizer = lambda body: {"tokens": [0] * len(body["content"])}
    kernel.run("big = pd.DataFrame({f'{chr(97 + i)}_column': [i, 2] for i in range(26)})")
    assert kernel.ask("what is in big?", "--context-tokens 300").error == ""
    told = model_server.requests[0]["messages"][-1]["content"].partition("Variables:\n")[2].partition("\n\n")[0]
    assert told == model_server.tokenized[-1]["content"]
    assert 100 < len(told) <= 300


def test_the_option_sets_the_budget_and_what_is_left_out_is_said(kernel: Kernel) -> None:
    kernel.run("\n".join(f"value_{at} = {at}" for at in range(60)))
    shown = kernel.ask("which value is there?", "--dry-run --context-tokens 50").text
    assert "the budget is 50" in shown
    assert "more variables: value_" in shown
    assert "(left out)" in shown
    assert "UsageError" in kernel.ask("what is there?", "--context-tokens 49").error


@pytest.mark.rare("another case of what a test beside it proves")
def test_what_the_last_cells_used_is_told_before_what_is_large(kernel: Kernel) -> None:
    kernel.run("tiny = pd.DataFrame({'t': [1]})\nlarge = pd.DataFrame({'v': range(5000)})")
    kernel.run("\n".join(["pass"] * 3))
    for _ in range(5):
        kernel.run("print(1)")
    assert kernel.run("%agent context").text.startswith("large:")
    kernel.run("tiny.head()")
    assert kernel.run("%agent context").text.startswith("tiny:")


@pytest.mark.long("another situation of what a test beside it proves")
def test_hidden_columns_and_variables_are_in_no_join(kernel: Kernel) -> None:
    kernel.run(SHOPS)
    kernel.run("%agent hide shops[city_id]")
    shown = kernel.run("%agent context").text
    assert "shops:" in shown
    assert "join on" not in shown
    kernel.run("%agent share shops[city_id]")
    assert JOIN in kernel.run("%agent context").text
    kernel.run("%agent hide cities")
    assert "cities" not in kernel.run("%agent context").text


@pytest.mark.rare("another case of what a test beside it proves")
def test_the_joins_between_tables_are_told_to_the_model_but_none_of_their_values(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("cities['country'].nunique()"), "x")
    kernel.run(SHOPS)
    assert kernel.ask("shops per country").error == ""
    assert JOIN in sent_to(model_server)
    kernel.ask("shops per country and city", "--privacy schema")
    assert "1000" not in sent_to(model_server)


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_same_question_is_replayed_although_other_cells_ran_in_between(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("df['n'].sum()"), "7 in all.")
    kernel.run(SHOPS)
    assert kernel.run("%%agent\nsum of all", cell_id="asks").error == ""
    asked = len(model_server.requests)
    first = sent_to(model_server)
    kernel.run("cities.head()")
    assert kernel.run("%agent context sum of all").text.startswith("cities")
    ran = kernel.run("%%agent\nsum of all", cell_id="asks")
    assert ran.error == ""
    assert len(model_server.requests) == asked, first


@pytest.mark.rare("another case of what a test beside it proves")
def test_the_model_is_told_of_the_variables_that_the_sandbox_gets_and_of_no_others(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("cities['country'].nunique()"), "x")
    kernel.run(SHOPS + "\nlimit = 7")
    assert kernel.ask("how many cities", "--vars cities").error == ""
    assert "cities: DataFrame" in sent_to(model_server)
    assert "shops: DataFrame" not in sent_to(model_server)
    assert "limit" not in sent_to(model_server)
    shown = kernel.run("%agent context how many n in total below the limit").text
    assert "limit: int = 7" in shown
