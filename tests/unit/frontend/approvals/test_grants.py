"""`approvals.grants`: yeses that last are one list, in words, and each can be taken back."""

from __future__ import annotations

import threading

import pytest

from jupyter_codeagent.frontend.approvals.grants import Grants, grant_text
from jupyter_codeagent.types.approvals import Grant

CODE = Grant(kind="run")
SEND = Grant(kind="call", subject="send")
FILE = Grant(kind="mount", subject="/data/trips.parquet")


def of(*granted: Grant) -> Grants:
    grants = Grants()
    grants.add(granted)
    return grants


def test_all_that_is_wanted_has_to_be_granted() -> None:
    other = Grant(kind="mount", subject="/data/other.parquet")
    assert of(FILE).cover([FILE])
    assert not of(FILE).cover([FILE, other])
    assert of(FILE, other).cover([FILE, other])


def test_what_never_lasts_is_covered_by_nothing() -> None:
    assert not of(CODE, SEND, FILE).cover(())


def test_a_yes_that_is_taken_back_leaves_the_others() -> None:
    grants = of(CODE, SEND, FILE)
    grants.take_back("call", "send")
    assert list(grants.all) == [CODE, FILE]
    grants.take_back("mount", "/data/other.parquet")
    grants.take_back("run")
    assert list(grants.all) == [FILE]


def test_those_of_a_kind_can_be_taken_back_together_and_all() -> None:
    grants = of(CODE, SEND, FILE)
    grants.clear("mount")
    assert list(grants.all) == [CODE, SEND]
    grants.clear()
    assert list(grants.all) == []


def test_each_change_is_told_and_nothing_else() -> None:
    told: list[tuple[Grant, ...]] = []
    grants = Grants(lambda: told.append(grants.all))
    grants.take_back("run")
    grants.clear()
    grants.add([CODE])
    grants.cover([CODE])
    grants.take_back("run")
    assert told == [(CODE,), ()]


@pytest.mark.parametrize(
    ("grant", "text"),
    [
        (CODE, "further code of this notebook runs in the sandbox without asking"),
        (SEND, "code may call send() without asking"),
        (FILE, "the sandbox may read /data/trips.parquet"),
        (
            Grant(kind="mount", subject="/data/\u202ex\x1b]52;c;x\x07"),
            "the sandbox may read /data/<U+202E>x<U+001B>]52;c;x<U+0007>",
        ),
    ],
)
def test_it_says_in_words_what_it_covers(grant: Grant, text: str) -> None:
    assert grant_text(grant) == text


def test_what_is_taken_back_while_another_is_given_stays_taken_back() -> None:
    grants = Grants()

    def give(number: int) -> None:
        for at in range(300):
            grants.add([Grant(kind="mount", subject=f"{number}/{at}")])

    threads = [threading.Thread(target=give, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        grants.add([SEND])
        grants.take_back("call", "send")
    for thread in threads:
        thread.join()
    assert SEND not in grants.all
    assert len(grants.all) == 1200
