"""Order and byte-stability of the messages; what a run leaves for the next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.agent.prompt.conversation import Turn, as_written, compact, turn_messages
from jupyter_codeagent.agent.prompt.system import SYSTEM_PROMPT, correction, first_messages, next_messages, prefill
from jupyter_codeagent.agent.prompt.task import task_text
from jupyter_codeagent.agent.reply.extract import extract_code
from jupyter_codeagent.types.tagged_text import TaggedText

TURNS = st.builds(
    Turn, prompt=st.text(), code=st.text(min_size=1), answer=st.text(), made=st.lists(st.text()).map(tuple)
)


def test_system_prompt_is_small_and_plain() -> None:
    assert len(SYSTEM_PROMPT) / 3.6 < 180
    assert SYSTEM_PROMPT.isascii()
    assert "{" not in SYSTEM_PROMPT


def test_the_prompt_names_the_library_of_charts_and_is_the_same_to_the_byte_for_the_default() -> None:
    default = first_messages(TaggedText("df: DataFrame 3x2"), "plot it")
    assert default[0].content == SYSTEM_PROMPT
    assert "- Plots: matplotlib, with title and axis labels.\n" in SYSTEM_PROMPT
    for charts in ("altair", "plotly"):
        told = first_messages(TaggedText("df: DataFrame 3x2"), "plot it", charts=charts)
        assert told[0].content == SYSTEM_PROMPT.replace("Plots: matplotlib", f"Plots: {charts}")
        assert "matplotlib" not in told[0].content
        assert told[1:] == default[1:]


def test_first_message_order_is_system_then_earlier_turns_then_variables_and_task() -> None:
    earlier = Turn(prompt="mean by sex", code="print(1)", answer="It is 1.", made=("m: Series 2",))
    messages = first_messages(TaggedText("df: DataFrame 3x2"), "now the median", [earlier])
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[1].content == "Task: mean by sex"
    assert messages[2].content == "```python\nprint(1)\n```"
    assert messages[3].content == ("Result: It is 1.\n\nVariables:\ndf: DataFrame 3x2\n\nTask: now the median")


def test_house_rules_come_before_the_variables_and_leave_all_earlier_messages_as_they_were() -> None:
    earlier = Turn(prompt="mean by sex", code="print(1)", answer="It is 1.")
    without = first_messages(TaggedText("df: DataFrame 3x2"), "now the median", [earlier])
    told = first_messages(TaggedText("df: DataFrame 3x2"), "now the median", [earlier], house_rules="Use bars.")
    assert told[:-1] == without[:-1]
    assert told[-1].content == (
        "Result: It is 1.\n\nHouse rules:\nUse bars.\n\nVariables:\ndf: DataFrame 3x2\n\nTask: now the median"
    )
    (span,) = (span for span in told[-1].spans if span.kind == "house_rules")
    assert told[-1].content[span.start : span.end] == "Use bars."


@given(st.text(), st.text(), st.lists(TURNS, max_size=4))
def test_without_house_rules_the_prompt_is_byte_for_byte_what_it_was(
    context: str, prompt: str, history: list[Turn]
) -> None:
    *_, last = first_messages(TaggedText(context), prompt, history)
    lines = f"Variables:\n{context.strip()}\n\n" if context.strip() else ""
    assert last.content == f"{turn_messages(history)[1].text}{lines}{task_text(prompt)}"


def test_without_variables_only_the_task_is_sent() -> None:
    assert first_messages(TaggedText(), "what is 2+2?")[-1].content == "Task: what is 2+2?"


def test_prompt_text_is_never_interpreted() -> None:
    assert first_messages(TaggedText(), "100% of {x} \"'\\n")[-1].content == "Task: 100% of {x} \"'\\n"


@given(st.text(), st.text(), st.lists(TURNS, max_size=4), st.lists(st.tuples(st.text(), st.text()), max_size=4))
def test_messages_of_a_step_begin_with_those_of_the_step_before(
    context: str, prompt: str, history: list[Turn], replies: list[tuple[str, str]]
) -> None:
    messages = first_messages(TaggedText(context), prompt, history)
    for reply, text in replies:
        following = next_messages(messages, reply, TaggedText(text))
        assert following[: len(messages)] == messages
        assert [message.role for message in following[-2:]] == ["assistant", "user"]
        messages = following


@given(st.text(), st.text(), st.lists(TURNS, max_size=4), TURNS)
def test_messages_of_a_run_begin_with_all_but_the_last_of_the_run_before(
    context: str, prompt: str, history: list[Turn], turn: Turn
) -> None:
    before = first_messages(TaggedText(context), prompt, history)
    after = first_messages(TaggedText(context), prompt, [*history, turn])
    assert after[: len(before) - 1] == before[:-1]


@given(st.lists(TURNS, max_size=4))
def test_roles_alternate_as_chat_templates_demand(history: list[Turn]) -> None:
    roles = [message.role for message in first_messages(TaggedText("x: int = 1"), "go", history)[1:]]
    assert roles == ["user", "assistant"] * len(history) + ["user"]


def test_prefill_opens_the_block_and_says_what_is_loaded() -> None:
    assert prefill(["df"]).text == "```python\n# df is already loaded\n"
    assert prefill(["a", "b"]).text == "```python\n# a, b are already loaded\n"
    assert prefill().text == "```python\n"


def test_prefill_after_a_failure_tells_the_hint_on_one_line() -> None:
    assert (
        prefill(["df"], hint=TaggedText("use\n.map()")).text
        == "```python\n# df is already loaded\n# corrected: use .map()\n"
    )
    assert extract_code(prefill(["df"], hint=TaggedText("use .map()")).text + "print(1)\n").code == "print(1)"


def test_prefill_line_does_not_reach_the_cell() -> None:
    assert extract_code(prefill(["a", "b"]).text + "print(a + b)\n").code == "print(a + b)"


def _turn(size: int, prompt: str = "") -> Turn:
    return Turn(prompt=prompt, code="x" * size)


def test_compaction_keeps_everything_that_fits() -> None:
    turns = [_turn(100), _turn(100)]
    assert compact(turns, 300) == tuple(turns)


def test_compaction_drops_the_oldest_and_leaves_room() -> None:
    turns = [_turn(100, str(index)) for index in range(4)]
    assert [turn.prompt for turn in compact(turns, 320)] == ["3"]


def test_compaction_drops_failed_turns_and_one_that_is_too_large() -> None:
    assert compact([Turn(prompt="failed", code="")], 100) == ()
    assert compact([_turn(500)], 100) == ()


@given(st.lists(st.integers(1, 60), max_size=12), st.integers(1, 200))
def test_compacted_turns_are_the_last_ones_and_within_the_limit(sizes: list[int], limit: int) -> None:
    turns = [_turn(size) for size in sizes]
    kept = compact(turns, limit)
    assert sum(len(turn.code) for turn in kept) <= limit
    assert kept == (tuple(turns[-len(kept) :]) if kept else ())


@pytest.mark.parametrize(
    ("reply", "code", "told"),
    [
        (
            "```python\n# df is already loaded\nprint(df)",
            "print(df)",
            "```python\n# df is already loaded\nprint(df)\n```",
        ),
        ("```python\nprint(df)\n```", "print(df)", "```python\nprint(df)\n```"),
        ("```python\nnp.NaN", "import numpy as np\n\nnp.nan", "```python\nimport numpy as np\n\nnp.nan\n```"),
        ("Here it is:\n```python\nprint(df)\n```", "print(df)", "```python\nprint(df)\n```"),
        ("```python\na\n```\nOutput:\n```\n7\n```", "a", "```python\na\n```"),
        ("", "a", "```python\na\n```"),
    ],
)
def test_a_reply_whose_code_ran_is_told_as_it_came_so_that_the_server_has_it_already(
    reply: str, code: str, told: str
) -> None:
    assert as_written(reply, code) == told


def test_a_hint_with_text_of_the_data_can_neither_end_the_block_nor_the_line() -> None:
    told = correction(TaggedText("has 'a\n```', '</think>', '<|im_end|>'")).text
    assert not any(word in told for word in ("```", "</think>", "<|im_end|>"))
    assert told.count("\n") == 1
