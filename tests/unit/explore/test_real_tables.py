"""What explore says of five tables of vega_datasets, as docs/explore.md judges it; its picture is made here."""

from __future__ import annotations

import io
import json

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from exploration_runner import run
from pictures import FOLDER, WRITES, smaller
from PIL import Image
from vega_datasets import local_data

from jupyter_codeagent.explore.cells import FindingCell, cells_of
from jupyter_codeagent.explore.report import read_report
from jupyter_codeagent.sandbox.guest.exploration.explore import explore

TABLES = ("cars", "seattle_weather", "barley", "stocks", "iowa_electricity")
PICTURE, SAID = FOLDER / "explore-vega.png", FOLDER / "explore-vega.txt"
SHOWN = (
    "Weight_in_lbs rises with Displacement",
    "How Acceleration relates to Weight_in_lbs depends on Origin",
    "precipitation is highest in November",
    "How yield of site Crookston compares with Morris depends on year",
    "net_generation jumps in 2008",
    "The number of rows of stocks per month jumps",
)
"""The beginnings of the findings whose charts are in the picture."""


def findings_of(name: str, table: pd.DataFrame) -> list[FindingCell]:
    found = explore({name: table}, {}, 60, 500_000)
    report = read_report(json.dumps(found), {name: tuple(map(str, table.columns))})
    return [cell for cell in cells_of(report, goal="", taken=[name], personal={}) if cell.finding is not None]


@pytest.mark.filterwarnings("ignore:The 'convert_dates' keyword")  # of vega_datasets, about pandas 4
def test_five_real_tables_have_the_findings_that_the_guide_judges() -> None:
    tables = {name: getattr(local_data, name)() for name in TABLES}
    found = {name: findings_of(name, table) for name, table in tables.items()}
    said = "\n".join(f"{name}: {cell.words}" for name, cells in found.items() for cell in cells) + "\n"
    if WRITES:
        SAID.write_text(said, encoding="utf-8")
        PICTURE.write_bytes(smaller(drawn(tables, found)))
    assert said == SAID.read_text(encoding="utf-8"), "docs/explore.md judges other findings: run `make pictures`"
    assert all(any(f": {beginning}" in line for line in said.splitlines()) for beginning in SHOWN)


def drawn(tables: dict[str, pd.DataFrame], found: dict[str, list[FindingCell]]) -> bytes:
    """Return the charts of `SHOWN` in two columns, as PNG."""
    cells = {cell.words: (name, cell) for name, cells in found.items() for cell in cells}
    charts = []
    for beginning in SHOWN:
        name, cell = next(one for words, one in cells.items() if words.startswith(beginning))
        written = io.BytesIO()
        run(cell.code, {name: tables[name]}).figures[0].savefig(written, dpi=75, bbox_inches="tight")
        charts.append(Image.open(written).convert("RGB"))
    plt.close("all")
    width, height = (max(getattr(chart, side) for chart in charts) for side in ("width", "height"))
    sheet = Image.new("RGB", (2 * width, 3 * height), "white")
    for place, chart in enumerate(charts):
        sheet.paste(chart, (place % 2 * width, place // 2 * height + (height - chart.height) // 2))
    written = io.BytesIO()
    sheet.save(written, format="PNG")
    return written.getvalue()
