"""Programs that call the user's functions."""

from __future__ import annotations

import pytest
from rule_calls import correct, fix, repair

from jupyter_codeagent.agent.prompt.system import prefill
from jupyter_codeagent.agent.rules.tool_names import keep_functions
from jupyter_codeagent.types.sandbox import ExecutionError

FUNCTIONS = ("departures", "airport_info")


def test_functions_are_told_where_the_code_begins() -> None:
    assert prefill(["df"], functions=FUNCTIONS).text == (
        "```python\n# df is already loaded\n# departures, airport_info are already defined\n"
    )
    assert prefill(functions=FUNCTIONS[:1]).text == "```python\n# departures is already defined\n"
    assert prefill(["df"]).text == "```python\n# df is already loaded\n"


def test_a_function_that_is_there_is_not_written_again() -> None:
    code = """\
import pandas as pd

@cache
def departures(origin, month, day):
    # not implemented here
    pass

from tools import airport_info
def own(x):
    return x
n = len(departures('JFK', 7, 4))
"""
    found = fix(keep_functions, code, functions=FUNCTIONS)
    assert found is not None
    assert found.code == ("import pandas as pd\n\n\ndef own(x):\n    return x\nn = len(departures('JFK', 7, 4))")
    assert found.notes == (
        "line 4 dropped: departures is your function",
        "line 8 dropped: airport_info is your function",
    )


def test_a_variable_with_the_name_of_a_function_gets_another() -> None:
    code = """\
airport_info = airport_info('DEN')
both = [airport_info['alt'], airport_info('SLC')['alt'], tools.map(airport_info, ['ABQ'])]
print(airport_info)
"""
    found = fix(keep_functions, code, functions=FUNCTIONS)
    assert found is not None
    assert (
        found.code
        == """\
airport_info_result = airport_info('DEN')
both = [airport_info_result['alt'], airport_info('SLC')['alt'], tools.map(airport_info, ['ABQ'])]
print(airport_info_result)
"""
    )
    assert found.notes == ("airport_info is your function, so the variable is airport_info_result",)


@pytest.mark.parametrize(
    "code",
    [
        "print(departures('JFK', 7, 4))",
        "look = airport_info\nprint(look('DEN'))",
        "def departures(origin): return 1",  # nothing would be left
        "not python (",
        "class Plane:\n    def departures(self): return 1\nPlane()",
    ],
)
def test_what_hides_no_function_stays_as_it_is(code: str) -> None:
    assert fix(keep_functions, code, functions=FUNCTIONS) is None
    assert fix(keep_functions, code) is None


def test_the_correction_is_told_in_the_notes_of_the_program() -> None:
    prepared = correct("def departures(o): pass\nprint(departures('JFK'))", functions=FUNCTIONS)
    assert prepared.code == "print(departures('JFK'))"
    assert prepared.notes == ("line 1 dropped: departures is your function",)


SIGNATURE = "departures(origin: str, month: int, day: int = 1) -> DataFrame"


@pytest.mark.parametrize(
    ("call", "wrong", "mended"),
    [
        ("departures(airport='JFK', month=7, day=4)", "airport", "departures(origin='JFK', month=7, day=4)"),
        ("departures('JFK', months=7)", "months", "departures('JFK', month=7)"),
        ("departures('JFK', 7, days=4)", "days", "departures('JFK', 7, day=4)"),
        ("x = [departures(orign='JFK', day=4, month=m) for m in y]", "orign",
         "x = [departures(origin='JFK', day=4, month=m) for m in y]"),
    ],
)  # fmt: skip
def test_a_wrong_argument_costs_no_turn_of_the_model_where_only_one_can_be_meant(
    call: str, wrong: str, mended: str
) -> None:
    evalue = f"{SIGNATURE}: got an unexpected keyword argument '{wrong}'; this call gives more"
    found = repair(call, ExecutionError(ename="TypeError", evalue=evalue, line=1), ())
    assert found is not None
    assert found.code == mended
    assert found.notes[0].startswith(f"renamed argument {wrong} of departures to ")


@pytest.mark.parametrize(
    ("call", "wrong"),
    [
        ("departures(origin='JFK', month=7, year=2013)", "year"),  # nothing is missing, nothing is alike
        ("departures(airport='JFK', mon=7)", "airport"),  # two are missing
        ("departures(**more, airport='JFK')", "airport"),
        ("departures(month=7, limit=10)", "limit"),  # no text, so no origin
        ("other(airport='JFK', month=7)", "airport"),
    ],
)
def test_where_it_is_not_certain_nothing_is_changed(call: str, wrong: str) -> None:
    evalue = f"{SIGNATURE}: got an unexpected keyword argument '{wrong}'"
    assert repair(call, ExecutionError(ename="TypeError", evalue=evalue, line=1), ()) is None
