"""Circles are seen early; no program is taken for one."""

from __future__ import annotations

import inspect

import pytest

from jupyter_codeagent.agent.reply import extract, loops
from jupyter_codeagent.agent.reply.loops import LONG_CHARS, ROUNDS, WINDOW_CHARS, is_looping, without_loop
from jupyter_codeagent.agent.rules import display


@pytest.mark.parametrize("passage", ["x", "0, ", " and not np.isnan(x)", "print(df.head())\n" * 4])
def test_a_passage_that_comes_over_and_over_is_a_circle_and_one_round_of_it_stays(passage: str) -> None:
    text = "Here it is:\n" + passage * (WINDOW_CHARS // len(passage) + 2)
    assert is_looping(text)
    assert without_loop(text).startswith("Here it is:\n")
    assert len(without_loop(text)) <= len("Here it is:\n") + len(passage)


@pytest.mark.parametrize("room", [extract, loops, display])
def test_real_programs_are_no_circles_at_any_point_of_their_stream(room: object) -> None:
    text = inspect.getsource(room)  # type: ignore[arg-type]
    assert not any(is_looping(text[:end]) for end in range(0, len(text), 7))
    assert without_loop(text) == text


def test_lines_that_count_up_are_no_circle() -> None:
    text = "".join(f"total_{at} = df['n'].sum() + {at}\n" for at in range(100))
    assert not is_looping(text)


@pytest.mark.parametrize("size", [200, LONG_CHARS])
def test_a_passage_of_several_lines_that_comes_over_and_over_is_a_circle(size: int) -> None:
    passage = "".join(f"# {at}. Leave out missing values\n" for at in range(LONG_CHARS))[:size]
    text = f"```python\n{passage * ROUNDS}"
    assert is_looping(text)
    assert without_loop(text) == f"```python\n{passage}"
    assert not is_looping(f"```python\n{passage * (ROUNDS - 1)}")


def test_a_circle_longer_than_the_limit_is_left_to_the_limit_of_tokens() -> None:
    passage = "".join(chr(ord("a") + at % 26) + str(at) for at in range(LONG_CHARS))[: LONG_CHARS + 1]
    assert not is_looping(passage * 10)
