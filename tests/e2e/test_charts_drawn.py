"""Findings of all kinds as Vega and Plotly draw them in a real browser: no text over text, and none cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import plotly
import pytest
from exploration_cases import CASES, WITHOUT_CHART, finding_of, frames
from exploration_runner import run
from playwright.sync_api import Browser, Page

from jupyter_codeagent.explore.programs import program
from jupyter_codeagent.types.charts import ChartLibrary

pytestmark = pytest.mark.browser

VEGA = Path(__file__).parents[2] / "labextension" / "node_modules"
SCRIPTS: dict[ChartLibrary, list[Path]] = {
    "altair": [
        VEGA / "vega/build/vega.min.js",
        VEGA / "vega-lite/build/vega-lite.min.js",
        VEGA / "vega-embed/build/vega-embed.min.js",
    ],
    "plotly": [Path(plotly.__file__).parent / "package_data" / "plotly.min.js"],
}
"""The scripts that the closed frame gets."""
DRAW: dict[ChartLibrary, str] = {
    "altair": "async chart => { await vegaEmbed('#chart', chart, {ast: true, actions: false, renderer: 'svg'}) }",
    "plotly": "async chart => { await Plotly.newPlot('chart', {...chart, config: {responsive: true}}) }",
}
LOOK = """() => {
  const found = [], edges = document.getElementById('chart').getBoundingClientRect();
  const shown = [...document.querySelectorAll('#chart svg text')].filter(text => {
    const style = getComputedStyle(text);
    return text.textContent.trim() && style.opacity !== '0' && style.visibility !== 'hidden';
  });
  const boxes = shown.map(text => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width);
  boxes.forEach(([text, box], place) => {
    if (box.left < edges.left - 1 || box.right > edges.right + 1 || box.top < edges.top - 1
        || box.bottom > edges.bottom + 1) found.push(`cut: ${text}`);
    for (const [other, its] of boxes.slice(place + 1)) {
      if (box.left < its.right - 1.5 && its.left < box.right - 1.5 && box.top < its.bottom - 1.5
          && its.top < box.bottom - 1.5) found.push(`text over text: ${text} | ${other}`);
    }
  });
  return boxes.length > 3 ? found : ['hardly any text'];
}"""
WITH_CHART = [name for name in CASES if CASES[name]().kind not in WITHOUT_CHART]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 800, "height": 700})
    yield context.new_page()
    context.close()


def faults(page: Page, charts: ChartLibrary, chart: dict[str, Any]) -> list[str]:
    if page.title() != charts:  # megabytes of script are read once
        page.set_content(f'<title>{charts}</title><body style="margin: 8px; font-family: sans-serif"></body>')
        for script in SCRIPTS[charts]:
            page.add_script_tag(path=script)
    page.evaluate("document.body.innerHTML = '<div id=\"chart\"></div>'")
    page.evaluate(DRAW[charts], chart)
    found: list[str] = page.evaluate(LOOK)
    return found


def specification(name: str, charts: ChartLibrary) -> dict[str, Any]:
    case = CASES[name]()
    finding, exploration = finding_of(case)
    (chart,) = run(program(finding, exploration, charts=charts), frames(case, "pandas")).displayed
    assert isinstance(chart, dict)
    return chart


PLOTLY = pytest.mark.rare(
    "charts of Plotly are drawn in the closed frame by test_explore; those of Altair all here"
)


@pytest.mark.parametrize("charts", ["altair", pytest.param("plotly", marks=PLOTLY)])
def test_no_chart_of_altair_or_plotly_has_text_over_text_or_cut_text(page: Page, charts: ChartLibrary) -> None:
    found = {name: faults(page, charts, specification(name, charts)) for name in WITH_CHART}

    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_a_chart_that_is_bad_on_purpose_is_found_out(page: Page) -> None:
    chart = specification("group_long", "plotly")
    chart["layout"]["title"]["pad"] = {"t": 90}
    assert any("text over text" in one for one in faults(page, "plotly", chart))
    chart["layout"]["title"]["text"] = "far too long " * 30
    assert any("cut" in one for one in faults(page, "plotly", chart))
