"""What code asks the model about single texts: the texts, the choices, the budget, the privacy."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, cast

import pandas as pd
import polars as pl
import pytest

from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.settings.config import CodeAgent
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.tools.ask_model import MAX_TEXTS, ModelQuestions, chosen, grammar_of, question_text, texts_of
from jupyter_codeagent.types.messages import Completion, CompletionRequest, Usage


class ModelDouble:
    """Answers by the text that is asked about."""

    def __init__(self, answer: Callable[[str], str]) -> None:
        self._answer = answer
        self.asked: list[CompletionRequest] = []

    async def find(self, settings: object) -> ModelEndpoint:
        return ModelEndpoint(model="m", label="double", kind="registered", remote=False)

    async def open(self, endpoint: object, settings: object, *, on_loading: object) -> ModelDouble:
        return self

    async def complete(self, request: CompletionRequest, *, on_text: object, is_complete: object) -> Completion:
        self.asked.append(request)
        await asyncio.sleep(0.001)
        text = request.messages[-1].content.rpartition("Text: ")[2]
        usage = Usage(prompt_tokens=40, completion_tokens=10, calls=1)
        return Completion(text=self._answer(text), finish_reason="stop", usage=usage, model="m", duration_s=0.1)


async def none_withheld(text: str) -> tuple[str, ...]:
    return ("Ada",) if "Ada" in text else ()


def asking(answer: Callable[[str], str] = str.upper, **settings: Any) -> tuple[ModelQuestions, ModelDouble]:
    model = ModelDouble(answer)
    in_force: Settings = replace(CodeAgent().settings(), **settings)

    def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run(coroutine)

    questions = ModelQuestions(
        settings=lambda: in_force, models=cast("ModelResolver", model), masked_values=none_withheld, run=run
    )
    return questions, model


def ask(questions: ModelQuestions, *arguments: Any) -> Any:
    return asyncio.run(questions.ask(*arguments))


def test_one_text_gives_one_answer_and_several_give_one_each_in_their_order() -> None:
    questions, model = asking()
    assert ask(questions, "Shout", "hello", None) == "HELLO"
    assert ask(questions, "Shout", ["a", "b", "a"], None) == ["A", "B", "A"]
    assert len(model.asked) == 3, "the same text is asked about once"
    assert questions.note() == "ask_model: 3 questions, 150 tokens"
    questions.begin(CodeAgent().settings())
    ask(questions, "Shout", "a", None)
    assert questions.note() == "ask_model: 1 question, 50 tokens"
    assert model.asked[1].messages[-1].content == "Shout\n\nText: a"


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (pd.Series(["x", 2]), ["x", "2"]),
        (pd.DataFrame({"a": [1, 2], "b": ["x", None]}), ["a: 1, b: x", "a: 2, b: None"]),
        (pl.DataFrame({"a": [1], "b": ["x"]}), ["a: 1, b: x"]),
        (("x", "y"), ["x", "y"]),
        (["y" * 3000], ["y" * 2000 + " …"]),
    ],
    ids=str,
)
def test_columns_lists_and_rows_of_frames_are_texts(data: Any, texts: list[str]) -> None:
    found, is_one = texts_of(data)
    assert [text.replace("nan", "None") for text in found] == texts
    assert not is_one


@pytest.mark.parametrize("data", ["text", 3, {"a": 1}])
def test_what_is_no_list_is_one_text(data: Any) -> None:
    assert texts_of(data) == ([str(data)], True)


def test_choices_are_held_by_a_grammar_and_where_the_server_takes_none_by_what_is_read() -> None:
    questions, model = asking(lambda text: f"'{text}'.")
    assert ask(questions, "Which?", ["Yes", "perhaps", "it is a no"], ["yes", "no"]) == ["yes", None, "no"]
    assert model.asked[0].grammar == 'root ::= "yes" | "no"'
    assert chosen("Yes", ["yes", "no"]) == "yes"
    assert chosen("The answer is price", ["price", "quality"]) == "price"
    assert chosen("price or quality", ["price", "quality"]) is None
    assert grammar_of(['a "b"', "ü"]) == 'root ::= "a \\"b\\"" | "ü"'
    assert question_text("Which?", "t", ["a", "b"]) == "Which?\nAnswer with one of: a, b\n\nText: t"


def test_the_budget_of_a_run_is_held() -> None:
    questions, _ = asking(max_subquestion_tokens=200)
    assert ask(questions, "Shout", ["a", "b"], None) == ["A", "B"]
    assert ask(questions, "Shout", "c", None) == "C"
    with pytest.raises(ValueError, match="150 tokens of 200"):
        ask(questions, "Shout", "d", None)
    questions.begin(CodeAgent().settings())
    assert ask(questions, "Shout", "d", None) == "D"
    with pytest.raises(ValueError, match=f"{MAX_TEXTS} different texts"):
        ask(questions, "Shout", range(MAX_TEXTS + 1), None)


def test_under_privacy_schema_nothing_is_told_and_personal_values_never_are() -> None:
    questions, model = asking(privacy="schema")
    with pytest.raises(PermissionError, match="which privacy 'schema' forbids"):
        ask(questions, "Shout", "a", None)
    assert model.asked == []
    questions, model = asking()
    ask(questions, "Who?", "Ada wrote from ada@example.org", None)
    assert "Ada" not in str(model.asked)
    assert "ada@example.org" not in str(model.asked)


def test_where_one_question_fails_no_further_one_is_asked() -> None:
    def answer(text: str) -> str:
        if text == "0":
            raise ConnectionError("the server is gone")
        return text

    questions, model = asking(answer)
    with pytest.raises(ConnectionError):
        ask(questions, "Shout", range(50), None)
    assert len(model.asked) < 10


def test_about_a_blank_text_nothing_is_asked() -> None:
    questions, model = asking()
    assert ask(questions, "How many are there?", " ", None) is None
    assert ask(questions, "Shout", ["a", "", "b"], None) == ["A", None, "B"]
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    ("prompt", "data", "choices", "why"),
    [
        ("x" * 2001, "a", None, "a question of at most 2,000 characters, not 2,001"),
        ("Which?", "a", ["b"] * 51, "at most 50 choices"),
        ("Which?", "a", ["b" * 101], "at most 50 choices"),
        ("Which?", "a", "abc", "at most 50 choices"),
        ("Which?", range(2**40), None, "at most 100,000 texts, not 1,099,511,627,776"),
        ("Which?", range(2**80), None, "at most 100,000 texts"),
        ("Which?", ["a"] * 100_001, None, "at most 100,000 texts"),
    ],
)
def test_what_is_longer_than_a_question_is_refused_at_no_cost(
    prompt: str, data: Any, choices: Any, why: str
) -> None:
    questions, model = asking()
    started = time.monotonic()
    with pytest.raises(ValueError, match=why):
        ask(questions, prompt, data, choices)
    assert model.asked == []
    assert time.monotonic() - started < 1


def test_questions_that_are_asked_at_once_keep_to_the_budget_and_a_server_that_counts_nothing_does_too() -> None:
    class Uncounted(ModelDouble):
        async def complete(self, request: CompletionRequest, *, on_text: object, is_complete: object) -> Completion:
            completion = await super().complete(request, on_text=on_text, is_complete=is_complete)
            return replace(completion, usage=Usage(calls=1))

    questions, _ = asking(max_subquestion_tokens=500)
    model = Uncounted(str.upper)
    questions._models = cast("ModelResolver", model)
    with pytest.raises(ValueError, match=r"of 500 in this run"):
        ask(questions, "Which?", [f"text {number}" for number in range(100)], None)
    assert 5 < len(model.asked) < 20
    assert questions.spent.prompt_tokens + questions.spent.completion_tokens <= 500
