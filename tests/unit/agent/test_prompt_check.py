"""What a question says and its program does not heed."""

from __future__ import annotations

import pytest

from jupyter_codeagent.agent.prompt.conversation import Turn
from jupyter_codeagent.agent.verdict.prompt_check import unheeded
from jupyter_codeagent.types.variables import LiveNames

LIVE = LiveNames(
    data={"trips": "DataFrame", "long_trips": "DataFrame", "march": "DataFrame"},
    columns=frozenset({"fare", "km", "day", "rider", "from_station"}),
)
FLAWED: dict[str, tuple[str, str]] = {
    "What is the median fare?": ("trips.fare.mean()", 'says "median"'),
    "What is the mean fare per rider?": ("trips.groupby('rider').fare.sum()", 'says "mean"'),
    "Which rider paid the highest fare?": ("trips.groupby('rider').fare.sum()", 'says "highest"'),
    "Which share of the trips was longer than 5 km?": ("(trips.km > 5).sum()", 'says "share"'),
    "Do km and fare correlate? Use the Spearman coefficient.": ("trips.km.corr(trips.fare)", 'says "Spearman"'),
    "How many trips are in long_trips?": ("len(trips)", "names long_trips"),
    "What is the mean of `km`?": ("trips.fare.mean()", "names km"),
    "How many trips began at each station (from_station)?": ("trips.groupby('rider').size()", "names from_station"),
    "How many trips are there per rider?": ("trips.groupby('fare').size()", "each rider"),
    "What is the total of the fares?  # the total": ("# the total of the fares\ntrips.fare.max()", 'says "total"'),
}
SOUND: dict[str, str] = {
    "What is the median fare?": "trips.fare.quantile(0.5)",
    "Give the median fare, please.": "np.nanmedian(trips.fare)",
    "What is the average fare?": "trips.fare.sum() / len(trips)",
    "Which rider paid the highest fare?": "trips.sort_values('fare').rider.iloc[-1]",
    "Which rider lost most?": "trips.groupby('rider').fare.sum().nsmallest(1)",
    "Which trips took at most 5 km?": "trips[trips.km <= 5]",
    "Which trips had more than 90 percent of the seats taken?": "trips[trips.km > 90]",
    "How many trips are there?": "len(long_trips)",
    "Which fares are there? A total is written like 'total: 5'.": "trips.fare.max()",
    "How many trips in march?": "len(trips)",
    "How many trips are there per day?": "trips.groupby(trips.begin.dt.date).size()",
    "How many trips per rider?": "trips.value_counts('riders')",
    "What is the median (of all fares) in long_trips?": "long_trips.fare.median()",
    "This is no program. What is the median?": "for",
}


@pytest.mark.parametrize("question", FLAWED)
def test_what_the_question_asks_for_and_the_code_passes_over_is_found(question: str) -> None:
    code, said = FLAWED[question]
    reasons = list(unheeded(question, code, LIVE))
    assert len(reasons) == 1
    assert said in reasons[0]


@pytest.mark.parametrize("question", SOUND)
def test_a_program_that_heeds_the_question_gives_no_reason(question: str) -> None:
    assert list(unheeded(question, SOUND[question], LIVE)) == []


def test_a_table_that_the_user_has_named_is_known_by_its_name_later() -> None:
    named = Turn(prompt="Call the trips of March `march`.", code="march = trips[trips.day.dt.month == 3]")
    assert list(unheeded("How many rows are in march?", "len(trips)", LIVE, [named])) == [
        "the question names march, and the code does not use it"
    ]
    assert list(unheeded("How many rows are in march?", "len(march)", LIVE, [named])) == []


def test_what_an_earlier_answer_has_done_need_not_be_done_again() -> None:
    before = Turn(prompt="What is the median `fare`?", code="m = trips.fare.median()")
    assert list(unheeded("And double this median `fare`?", "m * 2", LIVE, [before])) == []
    assert list(unheeded("And double this median `fare`?", "m * 2", LIVE)) != []


def test_a_very_wide_table_and_a_very_long_program_are_no_trouble() -> None:
    wide = LiveNames(data={"wide": "DataFrame"}, columns=frozenset(f"gene {at}" for at in range(5000)))
    question = "What is the total of `gene 7` and `gene 8`?"
    assert list(unheeded(question, "wide['gene 7'].sum()", wide)) == [
        "the question names gene 8, and the code does not use it"
    ]
    assert list(unheeded(question, " + ".join(["1"] * 20_000), wide)) == [], "too deep to be parsed"
