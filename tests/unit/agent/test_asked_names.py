"""Variables that the prompt asks for by name are there at the end."""

from __future__ import annotations

import pytest
from rule_calls import correct, fixed

from jupyter_codeagent.agent.prompt.asked_names import asked_names
from jupyter_codeagent.agent.prompt.task import task_text
from jupyter_codeagent.agent.rules.display import bind_asked_name


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("Make a table called late with the flights over an hour.", ("late",)),
        ("Mean fare by class. Keep it as fares.", ("fares",)),
        ("Drop duplicates and save that as clean, and show its size", ("clean",)),
        ("I need a table monthly with one row per month", ("monthly",)),
        ("Put name and ratio in a table named best, highest first.", ("best",)),
        ("Add a column called ratio and keep the result as wide_cars", ("wide_cars",)),
        ("Which three are largest? Table top with name and size.", ("top",)),
        ("Table with all names. Table of sizes.", ()),
        ("Keep only the planned ones in march. How many are left?", ()),
        ("Keep only the planned ones as planned.", ("planned",)),
        ("Add a column named ratio.", ()),
        ("Extend the table by a column called ratio.", ()),
        ("Show it as bars, keep the order", ()),
        ("Keep the rows as they are", ()),
        ("Save it as a table", ()),
        ("Mean fare by a column, in a table called class", ()),
        ("What is the mean fare?", ()),
        ("Keep in mind, zeros are missing.", ()),
        ("I get an error called TypeError. Why?", ()),
        ("What do the so-called edge effects change?", ()),
        ("I pass that into the dataframe constructor.", ()),
        ("Keep those above 3. Is there a way without a loop, as it takes long to loop?", ()),
    ],
)
def test_a_name_is_found_where_a_variable_is_meant(prompt: str, names: tuple[str, ...]) -> None:
    assert asked_names(prompt) == names


@pytest.mark.parametrize(
    ("code", "bound"),
    [
        ("df.groupby('g').mean()", "late = df.groupby('g').mean()\nlate"),
        ("x = df.head()\nprint(x)", "x = df.head()\nlate = x\nlate"),
        ("x = df.head()\nx", "x = df.head()\nlate = x\nlate"),
        ("x = df.head()", "x = df.head()\nlate = x\nlate"),
    ],
)
def test_the_result_gets_the_name_that_was_asked_for(code: str, bound: str) -> None:
    prepared = correct(code, copied=["df"], prompt="Keep it as late.")
    assert prepared.code == bound
    assert prepared.notes == ("the result is late, as asked",)


@pytest.mark.parametrize(
    "code",
    [
        "late = df.head()\nlate",
        "df.plot()",
        "print(f'{len(df)} rows')",
        "print('done')",
        "plt.show()",
        "for row in df: print(row)",
        "not python",
    ],
)
def test_what_has_the_name_or_no_one_result_stays(code: str) -> None:
    assert fixed(bind_asked_name, code, prompt="Keep it as late.") == code


def test_several_names_are_left_to_the_model() -> None:
    assert fixed(bind_asked_name, "df.head()", prompt="A table called low and a table called high.") == "df.head()"


def test_the_model_is_told_which_variable_is_wanted() -> None:
    assert task_text("Mean fare by class. Keep it as fares.").endswith("\nAssign the result to fares.")
