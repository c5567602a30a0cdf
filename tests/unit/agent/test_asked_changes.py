"""Which prompts ask to change the user's variables, and which."""

from __future__ import annotations

import pytest

from jupyter_codeagent.agent.prompt.asked_changes import asked_changes
from jupyter_codeagent.types.variables import LiveNames

FLIGHTS = LiveNames(
    data={"flights": "DataFrame", "weather": "DataFrame"},
    columns=frozenset({"n", "month", "dep delay", "dep_delay", "Age"}),
)


def asked(prompt: str, before: str = "") -> set[str]:
    return set(asked_changes(prompt, FLIGHTS, before))


@pytest.mark.parametrize(
    "prompt",
    [
        "What is the mean delay of each carrier?",
        "Plot the number of flights per month as a bar chart.",
        "Create a bar chart of the flights per month, with a title and labelled axes.",
        "Make a table of the counts per carrier.",
        "Add a legend and set the title to Delays.",
        "Now change the colour of the bars and remove the grid.",
        "Fill the area under the curve.",
        "Set n to a log scale.",
        "Correct for inflation and draw the prices.",
        "Use the median in place of the mean.",
        "Convert the result to percent.",
        "Add up the distances.",
        "What is the mean delay without cancelled flights?",
        "Leave out the missing values. What share was late?",
        "Leave that row out. What share of flights was cancelled?",
        "After dropping the missing values, how many rows are left?",
        "If you drop the outliers, what is the mean?",
        "Ignore rows without a departure time and compute the mean.",
        "Only flights from JFK: the ten longest, sorted by distance.",
        "Sort the flights by delay and show the first ten.",
        "How can I drop the duplicates of flights?",
        "How do I add a column to flights?",
        "Which column has the most missing values?",
        "Make a table with one column per airport.",
        "Create a new table of the means.",
        "Calculate the mean and the standard deviation of the month column.",
        "How many values are missing in each column?",
        "Fill rate of the planes per month",
        "Change of the mean from 2012 to 2013 per carrier",
        "Split the planes into four groups by seats and give the mean of each.",
        "Group people by whom they are closer to.",
        "Drop the flights with any missing value, add a column ratio and keep the result as complete.",
        "Fill the missing delays with the median of the carrier. Save that as filled.",
        "Take the flights from JFK and cap the delays, in a new column capped. Keep that table as jfk.",
        "Make a copy of flights with two new columns and count per carrier.",
        "Drop the duplicates, without changing flights, and count the rows.",
        "Clean the delays, but leave flights as it is.",
        "Drop rows without a delay and put the rest in a new dataframe.",
        "Don't change flights. Replace -999 by the mean and show the histogram.",
        "Wie hoch ist die mittlere Verspätung pro Monat?",
        "Zeichne ein Balkendiagramm der Flüge pro Monat.",
        "Wie viele Zeilen bleiben, ohne die Duplikate zu entfernen?",
        "Entferne die Duplikate in einer Kopie und zähle die Zeilen.",
    ],
)
def test_a_question_asks_for_no_change(prompt: str) -> None:
    assert asked(prompt) == set()


@pytest.mark.parametrize(
    "prompt",
    [
        "Add a column speed: distance by air time.",
        "Please add a new column with the month.",
        "Create a column speed.",
        "Make two columns of the name.",
        "Loesche alle leeren Zeilen.",
        "Can you drop the columns that are empty?",
        "Remove the duplicates and tell me how many rows are left.",
        "Drop missing values and compute the mean.",
        "Rename Age to age.",
        "Replace -999 with missing.",
        "Fill the gaps by linear interpolation and give the yearly means.",
        "Clean that and tell me the total of each year.",
        "set n to zero",
        "Set Age to 0 where it is negative.",
        "Convert dep_delay to hours.",
        "Turn them back into one column called health and show the mean of each.",
        "Create a new feature called size and correlate it with the fare.",
        "Compute the speed as a new column.",
        "I want a new column with the quarter.",
        "I'd like to add the region as a column",
        "Add the region to the countries and give me each region's mean.",
        "Sort everything by delay in place.",
        "Leave those out for good. How many are left?",
        "For the delays, first strip the unit, then convert the column to numbers.",
        "Füge eine Spalte Geschwindigkeit hinzu.",
        "Lösche die doppelten Zeilen und zähle den Rest.",
        "Bitte die Spalte carrier umbenennen.",
        "Wandle die Spalte date in ein Datum um.",
        "Fix this:\n```python\nflights['month'] = 1\n```",
        "Why does this fail?\nflights['month'] = flights.date.dt.month",
    ],
)
def test_an_order_to_the_data_asks_for_a_change(prompt: str) -> None:
    assert asked(prompt) == {"flights", "weather"}


@pytest.mark.parametrize(
    ("prompt", "variables"),
    [
        ("Add a column speed to flights.", {"flights"}),
        ("Add the name from weather as a column to flights.", {"flights"}),
        ("Drop the duplicates from weather and show its shape.", {"weather"}),
        ("Rename dep_delay in flights and weather.", {"flights", "weather"}),
        ("Clean weather and join it with flights.", {"weather"}),
        ("Drop rows without a delay and save it as flights.", {"flights"}),
        ("Add a column late to flights and keep its mean as share.", {"flights"}),
        ("Entferne die Duplikate aus weather.", {"weather"}),
    ],
)
def test_where_the_prompt_says_which_variable_the_others_are_not_meant(prompt: str, variables: set[str]) -> None:
    assert asked(prompt) == variables


def test_the_same_once_more_asks_for_what_the_prompt_before_asked() -> None:
    assert asked("Do the same with weather", "Add a column season to flights") == {"flights", "weather"}
    assert asked("Do the same with weather", "Mean per month?") == set()
    assert asked("And per carrier?", "Add a column season to flights") == set()


def test_a_long_text_is_read_up_to_a_limit_and_a_wide_table_takes_no_time() -> None:
    wide = LiveNames(data={"df": "DataFrame"}, columns=frozenset(f"c{at}" for at in range(5000)))
    assert asked_changes("Set the limit. " * 5000 + "Drop it.", wide) == set()
