"""In each situation, whatever kinds of variables there are: no canary of the data among the bytes that left.

Under `schema` no value at all, under `stats` none of a personal column. The model's code never has a canary in it,
only what it takes out of the data; it is as curious as it can be.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernel_client import Kernel, Ran, running_kernel
from model_server import ModelServer, code, serving

SETUP = '''
import collections, datetime, decimal, enum, functools, pathlib, warnings
import duckdb, numpy as np, pandas as pd, polars as pl, pyarrow as pa, sqlalchemy, xarray as xr
from sklearn.linear_model import LinearRegression
from jupyter_codeagent import agent_tool

names = ["Yolvandra Pexmire", "Brustolf Anquedar", "Kelphine Ostravax"] * 4
towns = ["Frequentia", "Solitaria", "Frequentia"] * 4
people = pd.DataFrame({"patient": names, "town": towns, "wage": [714231 + n for n in range(12)], "n": range(12)})
people["seen"] = pd.date_range("2714-01-01", periods=12)
by_name = people.assign(patient=pd.Categorical(names), town=pd.Categorical(towns)).set_index(["patient", "n"])
wide = people.pivot_table(index="n", columns="patient", values="wage")
banded = people.assign(band=pd.cut(people.wage, [714000, 714235, 714300]))[["band", "n"]]
adults = people.assign(patient=pd.Categorical(names))[people.patient.str.startswith("K")]
pframe = pl.from_pandas(people).with_columns(pl.col("town").cast(pl.Enum(["Frequentia", "Solitaria"])))
nested = pl.DataFrame({"who": [{"patient": name, "town": town} for name, town in zip(names, towns)]})
lazy = pframe.lazy().filter(pl.col("wage") > 714232)
table = pa.table({"patient": pa.array(names).dictionary_encode(), "town": pa.array(towns).dictionary_encode()})
duck = duckdb.connect()
duck.execute("CREATE TYPE place AS ENUM ('Frequentia', 'Solitaria')")
duck.execute("CREATE TABLE visits AS SELECT 'Solitaria'::place AS town, 714231 AS wage")
relation = duck.table("visits")
dataset = xr.Dataset({"wage": ("patient", people.wage[:3])}, {"patient": names[:3]}, {"of": "Frequentia"})
records = people[["patient", "town"]].to_dict("records")
lists = {"patient": names, "town": towns}
counts = dict.fromkeys(names, 714231)
unique = set(towns)
span = range(714231)
place = "Solitaria"
figure = 714231
price = decimal.Decimal("714231.5")
day = datetime.date(2714, 2, 3)
folder = pathlib.Path("/data/Solitaria")
engine = sqlalchemy.create_engine("sqlite:///Solitaria.db")
model = LinearRegression().fit(people[["n"]], people["wage"])
failure = ValueError("Solitaria")
Towns = enum.Enum("Towns", {"Solitaria": 1, "Frequentia": 2})

@agent_tool(policy="auto")
def lookup(who: str) -> str:
    """Look somebody up."""
    return who
'''
pytestmark = pytest.mark.xdist_group("privacy everywhere")  # two kernels for all of it
PEOPLE = ("Yolvandra", "Pexmire", "Brustolf", "Anquedar", "Kelphine", "Ostravax")
VALUES = ("Frequentia", "Solitaria", "7142", "2714")
ALL = "people,by_name,wide,banded,adults,pframe,nested,table,dataset,records,lists,counts,place"
HEADERS_OF_HTTP = re.compile(rb"(?im)^(host|content-length): .*")  # a port, a length: 2714 bytes are no canary
CANARIES = {"schema": (*PEOPLE, *VALUES), "stats": PEOPLE}

SHOWS_ALL = f"""
for value in ({ALL}):
    print(value)
print(people.to_csv())
people
"""
NAMED = "who = people['patient'].iloc[0]\n"
ERRORS = {
    "a message": f"{NAMED}raise ValueError(f'no {{who}} in {{people.town.iloc[1]}} of {{people.wage.iloc[0]}}')",
    "a name": f"{NAMED}raise type(who, (Exception,), {{}})('x')",
    "a name like those of errors": "raise type(people.town.iloc[1] + 'Error', (Exception,), {})('x')",
    "a key": f"{NAMED}{{}}[who]",
    "a column": "people[people.town.iloc[1]]",
    "columns near it": "made = people.pivot(columns='town', values='wage')\nmade['Frequenti' + 'x']",
    "a line": "lines, here = chr(10) * people.wage.iloc[0], (lambda: 0).__code__.co_filename\n"
    "exec(compile(lines + '1 / 0', here, 'exec'))",
    "a name that is missing": f"{NAMED}globals()[people.town.iloc[1]] = 1\nSolitarix = 1\ndel Solitarix\nSolitari",
    "a merge": "a, b = people.town[:2]\nraise ValueError(f\"trying to merge on {a} and {b} columns for key 'n'\")",
    "a module": "import importlib\nimportlib.import_module(people.town.iloc[1])",
    "a warning": f"{NAMED}warnings.warn(f'{{who}} {{people.town.iloc[1]}}')\n1 / 0",
    "a call": f"{NAMED}lookup(who)\nlookup(people.town.iloc[1])\n1 / 0",
    "a call that fails": f"{NAMED}lookup(who, who)",
}
DOUBTS = {
    "a figure with a name": "print(f'{people.town.iloc[1]} wage: nan')",
    "a function": "print(f'<function {people.town.iloc[1]} at 0x1>')",
    "an impossible figure": "print(f'correlation: {people.wage.iloc[0]}.5')",
    "nothing": "found = people[people.patient == people.town.iloc[1]]\nfound",
    "a join": "made = people.merge(people, on='town')\nother = made.merge(people, on='town')\nprint(made.shape)",
    "only missing values": "print(people.patient.iloc[0], float('nan'))",
}
FINE = code("print(len(people))")


class Place:
    """A kernel with the variables and the server that it asks, for all questions of one mode."""

    def __init__(self, kernel: Kernel, server: ModelServer, mode: str) -> None:
        self.kernel, self.server, self.mode = kernel, server, mode

    def ask(self, *replies: str, prompt: str = "what is in people?", options: str = "") -> Ran:
        self.server.script(*replies)
        return self.kernel.ask(prompt, f"--vars {ALL} --privacy {self.mode} {options}")

    def found(self) -> list[str]:
        sent = HEADERS_OF_HTTP.sub(b"", bytes(self.server.received))
        text = sent.decode("utf-8", "replace")
        assert "people: DataFrame" in text, "something was asked"
        return [canary for canary in CANARIES[self.mode] if canary in text]


@pytest.fixture(scope="module", params=["schema", "stats"])
def everything(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    directory: Path = tmp_path_factory.mktemp(request.param)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(serving())
        environment = {"CODEAGENT_BASE_URL": server.url, "CODEAGENT_API_KEY": "k"}
        kernel = stack.enter_context(running_kernel(directory, environment))
        ran = kernel.run(SETUP)
        assert ran.error == ""
        yield Place(kernel, server, request.param)


@pytest.fixture
def place(everything: Place) -> Place:
    everything.server.received.clear()
    return everything


def test_a_first_question_and_the_sentence_about_what_was_shown(place: Place) -> None:
    assert place.ask(code(SHOWS_ALL), "There are 12 rows.").error == ""
    for name in ("people", "adults", "pframe", "wide", "counts"):
        assert (
            place.ask(code(f"print({name})\n{name}"), "There are 12 rows.", prompt=f"what is in {name}?").error
            == ""
        )
    assert place.found() == []


@pytest.mark.long_except("schema", why="the stricter mode has the same rows")
@pytest.mark.long("another situation of what a test beside it proves")
def test_a_question_that_names_every_variable(place: Place) -> None:
    names = "lazy, relation, duck, counts, unique, span, figure, price, day, folder, engine, model, failure, Towns"
    place.server.script(FINE)
    ran = place.kernel.ask(f"what are people, {names}?", f"--privacy {place.mode}")
    assert ran.error == ""
    assert place.found() == []


@pytest.mark.parametrize("what", ERRORS)
@pytest.mark.long_except("schema", why="the stricter mode has the same rows")
@pytest.mark.long("another situation of what a test beside it proves")
def test_an_error_that_has_values_in_it(place: Place, what: str) -> None:
    assert place.ask(code(ERRORS[what]), FINE).error == ""
    assert len(place.server.requests) > 1, "the error went back to the model"
    assert place.found() == []


@pytest.mark.parametrize("what", DOUBTS)
@pytest.mark.long_except("schema", why="the stricter mode has the same rows")
@pytest.mark.long("another situation of what a test beside it proves")
def test_a_doubt_about_what_was_shown(place: Place, what: str) -> None:
    place.ask(code(DOUBTS[what]), FINE)
    place.ask(code(DOUBTS[what]), FINE, prompt="and then?")
    assert place.found() == []


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_correction_by_value_and_the_question_after_it(place: Place) -> None:
    corrected = code("print((people['patient'] == 'Y').sum())\nprint((people['town'] == 'frequentia ').sum())")
    assert place.ask(corrected, "x").error == ""
    assert place.ask(FINE, "x", prompt="and then?").error == ""
    assert "people['patient'] == 'Y'" in place.server.requests[0]["messages"][-2]["content"]
    assert place.found() == []


@pytest.mark.long("another situation of what a test beside it proves")
def test_what_was_said_under_a_wider_privacy_is_not_told_under_a_stricter_one(place: Place) -> None:
    wider = "samples" if place.mode == "stats" else "stats"
    place.server.script(code("made_of = people[people.town == people.town.iloc[1]]\nmade_of.town"), "x")
    assert place.kernel.ask("who lives where?", f"--vars people --privacy {wider}").error == ""
    place.server.received.clear()
    assert place.ask(FINE, "x", prompt="and then?").error == ""
    assert "made_of" not in str(place.server.requests)
    assert place.found() == []


@pytest.mark.long("another situation of what a test beside it proves")
def test_variables_that_code_names_after_values_and_copies_that_it_changes(place: Place) -> None:
    changes = """\
globals()[people.patient.iloc[0]] = people
globals()[people.town.iloc[1]] = type(people.town.iloc[0], (), {})()
made = people.pivot_table(index='n', columns='patient', values='wage')
people = people.join(pd.get_dummies(people.patient)).iloc[:5]
people.index.name = people.patient.iloc[0]
print(len(made), len(people))"""
    assert place.ask(code(changes), "x").error == ""
    assert place.ask(FINE, "x", prompt="and then?").error == ""
    assert place.found() == []


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_failed_cell_of_the_user(place: Place) -> None:
    failed = place.kernel.run("raise KeyError(people['patient'].iloc[0] + ' of ' + people['town'].iloc[1])")
    assert failed.error
    place.kernel.run(f"%config CodeAgent.privacy = '{place.mode}'")
    place.server.script(FINE)
    assert place.kernel.run("%agent fix").error == ""
    place.kernel.run("%config CodeAgent.privacy = 'stats'")
    assert "KeyError" in str(place.server.requests)
    assert [canary for canary in place.found() if canary not in PEOPLE or place.mode == "schema"] == []


@pytest.mark.long_except("schema", why="the stricter mode has the same rows")
@pytest.mark.long("another situation of what a test beside it proves")
def test_several_candidates(place: Place) -> None:
    replies = (code(SHOWS_ALL), code(ERRORS["a message"]))
    assert place.ask(*replies, "x", options="--candidates 2").error == ""
    assert place.ask(FINE, "x", prompt="and then?").error == ""
    assert place.found() == []


@pytest.mark.long_except("stats", why="a mode each is enough for a change")
@pytest.mark.long("another situation of what a test beside it proves")
def test_a_replayed_run_and_the_question_after_it(place: Place) -> None:
    cell = f"%%agent --vars people --privacy {place.mode}\nhow many with the initial?"
    place.server.script(
        code("print((people['patient'] == 'Y').sum(), (people['town'] == 'frequentia ').sum())"), "x"
    )
    assert place.kernel.run("%agent reset").error == ""
    assert place.kernel.run(cell, cell_id="c1").error == ""
    assert "recorded answer" in place.kernel.run(cell, cell_id="c1").text or len(place.server.requests) <= 2
    place.server.script(FINE, "x")
    assert place.kernel.run(f"%%agent --vars people --privacy {place.mode}\nand then?", cell_id="c2").error == ""
    assert "people['patient'] == 'Y'" in str(place.server.requests)
    assert place.found() == []


@pytest.mark.long("another situation of what a test beside it proves")
def test_values_that_are_not_personal_are_told_under_stats_so_that_they_would_be_found(place: Place) -> None:
    assert place.ask(code(SHOWS_ALL), "x").error == ""
    assert place.ask(code(ERRORS["a message"]), FINE).error == ""
    text = bytes(place.server.received).decode("utf-8", "replace")
    assert ("Solitaria" in text) == (place.mode == "stats")
    assert "Yolvandra" not in text
