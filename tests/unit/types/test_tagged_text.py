"""Text that knows what it holds: the tags stay with their words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.types.messages import ContentKind, Span
from jupyter_codeagent.types.tagged_text import TaggedText, content_of, join, kinds_in, kinds_of, message, tagged

KINDS: list[ContentKind] = ["names", "statistics", "output"]
PARTS = st.lists(st.tuples(st.text("ab \n", max_size=6), st.sampled_from([None, *KINDS])), max_size=6)


def of_parts(parts: list[tuple[str, ContentKind | None]]) -> tuple[TaggedText, list[ContentKind | None]]:
    """The text, and the kind of each of its characters."""
    whole = join("", (tagged(text, *([kind] if kind else [])) for text, kind in parts))
    return whole, [kind if text.strip() else None for text, kind in parts for _ in text]


@given(PARTS)
def test_each_character_has_the_kind_that_it_was_tagged_with(parts: list[tuple[str, ContentKind | None]]) -> None:
    whole, kinds = of_parts(parts)
    assert whole.text == "".join(text for text, _ in parts)
    for at, kind in enumerate(kinds):
        assert {span.kind for span in whole.spans if span.start <= at < span.end} == ({kind} if kind else set())


@given(PARTS, st.integers(0, 40), st.integers(0, 40))
def test_a_part_has_the_kinds_of_its_words_and_no_other(
    parts: list[tuple[str, ContentKind | None]], start: int, end: int
) -> None:
    whole, kinds = of_parts(parts)
    start, end = min(start, len(whole.text)), min(end, len(whole.text))
    part = whole.part(start, end)
    words = {kind for kind, letter in zip(kinds[start:end], whole.text[start:end], strict=True) if letter.strip()}
    assert part.text == whole.text[start:end]
    assert set(kinds_of(part.spans)) == words - {None}
    assert all(0 <= span.start < span.end <= len(part.text) for span in part.spans)


@given(PARTS)
def test_lines_put_together_again_are_the_text(parts: list[tuple[str, ContentKind | None]]) -> None:
    whole, _ = of_parts(parts)
    again = join("\n", whole.lines())
    assert again.text == whole.text
    assert kinds_of(again.spans) == kinds_of(whole.spans)


def test_neighbours_of_one_kind_are_one_span() -> None:
    lines = join("\n", (tagged("df: DataFrame", "names"), tagged(" n int 1..4", "names", "statistics")))
    assert lines.spans == (Span(kind="names", start=0, end=25), Span(kind="statistics", start=14, end=25))


def test_text_without_a_word_is_of_no_kind() -> None:
    assert tagged(" \n", "output").spans == ()
    assert not tagged("", "output")


def test_a_message_keeps_the_tags_and_sends_the_text() -> None:
    asked = message("user", "Task: " + tagged("7", "output") + ".")
    assert asked.content == "Task: 7."
    assert content_of(asked).part(6, 7) == tagged("7", "output")
    assert kinds_in([asked], tagged("x", "names").spans) == ("names", "output")
