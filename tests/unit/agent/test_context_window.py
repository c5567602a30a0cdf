"""What is sent never exceeds the model's context, and what goes first is told and always the same."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.agent.prompt.context_window import LEFT_OUT, ContextWindow, fit_messages
from jupyter_codeagent.agent.prompt.conversation import Turn
from jupyter_codeagent.agent.prompt.system import first_messages, next_messages
from jupyter_codeagent.models.tokens import estimate_tokens
from jupyter_codeagent.types.messages import Message
from jupyter_codeagent.types.tagged_text import TaggedText, join, kinds_in, tagged

LONG = st.builds(lambda text, times: text * times, st.text(max_size=30), st.integers(0, 120))
TURNS = st.builds(Turn, prompt=LONG, code=LONG, answer=LONG)


def conversation(
    context: str, prompt: str, turns: list[Turn], attempts: list[tuple[str, str]]
) -> tuple[str, tuple[Message, ...]]:
    messages = first_messages(TaggedText(context), prompt, turns)
    for reply, text in attempts:
        messages = next_messages(messages, reply, TaggedText(f"{text}\nCorrect the code."))
    return prompt, messages


ASKED = st.builds(
    conversation,
    LONG.map(lambda text: text.replace("x", "\n")),
    LONG,
    st.lists(TURNS, max_size=3),
    st.lists(st.tuples(LONG, LONG), max_size=4),
)
Asked = tuple[str, tuple[Message, ...]]


def window(context_tokens: int, *, certain: bool = True, factor: float = 1.0) -> ContextWindow:
    return ContextWindow(context_tokens=context_tokens, certain=certain, count=estimate_tokens, factor=factor)


def chars(messages: tuple[Message, ...]) -> int:
    return sum(len(message.content) for message in messages)


@given(ASKED, st.integers(100, 9000), st.integers(1, 4000), st.floats(1, 3))
def test_what_is_sent_leaves_room_for_the_reply_or_nothing_is_sent(
    asked: Asked, context_tokens: int, reply_tokens: int, factor: float
) -> None:
    (prompt, messages), there = asked, window(context_tokens, factor=factor)
    fitted = fit_messages(messages, prompt, there, reply_tokens)
    limit = max(context_tokens - reply_tokens, context_tokens // 2)
    if fitted.fits:
        assert there.cost(fitted.messages) <= limit
    else:
        assert there.cost(first_messages(TaggedText(), prompt)) + 800 * factor > limit, (
            "more could have been left out"
        )


@given(ASKED, st.integers(100, 9000), st.booleans())
def test_the_question_is_whole_roles_alternate_and_a_note_tells_whether_something_is_missing(
    asked: Asked, context_tokens: int, certain: bool
) -> None:
    prompt, messages = asked
    fitted = fit_messages(messages, prompt, window(context_tokens, certain=certain), 256)
    sent = fitted.messages
    assert any(message.content.endswith(f"Task: {prompt.strip()}") for message in sent)
    assert [message.role for message in sent] == ["system", *["user", "assistant"] * (len(sent) // 2 - 1), "user"]
    assert (fitted.note == "") == (sent == messages)


@given(ASKED, st.integers(100, 4000), st.integers(100, 4000))
def test_more_room_never_tells_less(asked: Asked, one: int, other: int) -> None:
    prompt, messages = asked
    small, large = (fit_messages(messages, prompt, window(size), 50) for size in sorted((one, other)))
    assert chars(small.messages) <= chars(large.messages) or not small.fits


@given(ASKED, st.integers(500, 6000))
def test_what_fits_is_not_changed_again(asked: Asked, context_tokens: int) -> None:
    prompt, messages = asked
    fitted = fit_messages(messages, prompt, window(context_tokens), 50)
    if fitted.fits:
        assert fit_messages(fitted.messages, prompt, window(context_tokens), 50).messages == fitted.messages


WHY, WHOLE = conversation(
    "\n".join(["df: DataFrame 9x40", *(f" 'column {at}' float 0..{at}" for at in range(40))]),
    "why?",
    [Turn(prompt=f"question {at}", code="print(1)\n" * 40, answer="1") for at in range(2)],
    [(f"attempt {at}\n" + "x = 1\n" * 100, f"error {at}\n" * 200) for at in range(3)],
)


def test_the_order_is_attempts_then_their_output_then_questions_then_variables() -> None:
    full = window(0).cost(WHOLE)
    notes = [fit_messages(WHOLE, WHY, window(2 * size), 2 * size).note for size in range(full, 400, -50)]
    told = [
        tuple(word in note for word in ("earlier attempt", "parts of the last", "earlier question", "on variables"))
        for note in notes
    ]
    assert all(all(before <= after for before, after in zip(a, b, strict=True)) for a, b in pairwise(told))
    first = [next(at for at, row in enumerate(told) if row[column]) for column in range(4)]
    assert first == sorted(first)
    assert len(set(first)) == 4
    assert notes[0] == ""


def test_the_note_tells_the_limit_and_how_much_is_missing() -> None:
    least = fit_messages(WHOLE, WHY, window(1400), 1400)
    assert least.note.startswith(
        f"{LEFT_OUT}1400 tokens: 2 earlier attempts of this run, parts of the last attempt, "
    )
    assert "2 earlier questions" in least.note
    assert least.messages[1].content.endswith("(… more lines left out)\n\nTask: why?")


def test_house_rules_go_after_the_variables_and_the_note_names_them() -> None:
    context = "\n".join(f"a{at} int" for at in range(40))
    rules = "\n".join(f"Rule {at} of the house." for at in range(8))
    whole = first_messages(TaggedText(context), "why?", house_rules=rules)
    notes = set()
    for limit in range(300, 1400, 25):
        fitted = fit_messages(whole, "why?", window(limit), 100)
        sent = "".join(message.content for message in fitted.messages)
        assert ("house rules" in fitted.note) == (sent.count("of the house") < 8), limit
        assert ("on variables" in fitted.note) == (sent.count(" int") < 40), limit
        assert sent.count(" int") == 0 or sent.count("of the house") == 8
        notes.add(fitted.note.rpartition(" lines ")[2])
    assert notes == {"", "on variables", "on variables and house rules"}


def test_without_a_limit_everything_is_told() -> None:
    assert fit_messages(WHOLE, WHY, None, 10**6).messages == WHOLE


def test_an_assumed_limit_is_given_up_for_a_question_that_exceeds_it_alone() -> None:
    prompt, messages = conversation("df: DataFrame 9x40", "why? " * 5000, [], [("x", "y")])
    assert fit_messages(messages, prompt, window(2000, certain=False), 100).messages == messages
    assert not fit_messages(messages, prompt, window(2000), 100).fits
    assert fit_messages(WHOLE, WHY, window(2000, certain=False), 100).note


def test_the_same_question_asked_before_is_not_taken_for_this_one() -> None:
    prompt, messages = conversation("", "why?", [Turn(prompt="why?", code="x = 1\n" * 900)], [])
    fitted = fit_messages(messages, prompt, window(2400), 1200)
    assert fitted.messages == first_messages(TaggedText(), "why?")
    assert fitted.note == f"{LEFT_OUT}2400 tokens: 1 earlier question"


def test_a_count_of_the_server_replaces_the_margin() -> None:
    there = window(8000, factor=1.25)
    raw = window(8000).cost(WHOLE)
    assert there.calibrated(WHOLE, 2 * raw).cost(WHOLE) > 2 * raw
    assert there.calibrated(WHOLE, raw // 3).factor == 1.0, "a server that cuts prompts silently counts too few"
    assert there.calibrated(WHOLE, 0) == there


def test_what_is_cut_is_no_longer_tagged_as_what_was_in_it() -> None:
    context = join("\n", (*(tagged(f"a{at} int", "names") for at in range(40)), tagged("z: int = 5", "statistics")))
    first = first_messages(context, "why?", [Turn(prompt="quokka " * 40, code="x", answer="seven")])
    assert kinds_in(first) == ("names", "statistics", "earlier_code", "earlier_results")
    found = {
        limit: kinds_in(fit_messages(first, "why?", window(limit, certain=True), 100).messages)
        for limit in range(300, 1400, 50)
    }
    assert found[1350] == kinds_in(first)
    assert (
        "names",
        "earlier_results",
    ) in found.values()  # the answer stands with the variables, the last of which went
    for limit, kinds in found.items():
        text = "".join(
            message.content for message in fit_messages(first, "why?", window(limit, certain=True), 100).messages
        )
        assert ("statistics" in kinds) == ("z: int = 5" in text), limit
        assert ("earlier_code" in kinds) == ("quokka" in text), limit
        assert ("earlier_results" in kinds) == ("seven" in text), limit
