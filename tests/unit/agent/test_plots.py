"""Charts of pandas are drawn on the figure that the program has made for them."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from rule_calls import as_meant

FRAME = pd.DataFrame({"month": [1, 2, 1, 2], "delay": [3.0, 4.0, 5.0, 6.0], "origin": ["A", "A", "B", "B"]})


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        (
            'plt.figure()\nfor name in ["A", "B"]:\n'
            '    df[df["origin"] == name].plot(x="month", y="delay", kind="line", label=name)',
            2,
        ),
        ('plt.figure(figsize=(4, 2))\ndf.groupby("month")["delay"].mean().plot()', 1),
        ('plt.figure(figsize=(4, 2))\ndf.plot.line(x="month", y="delay",)', 1),
    ],
)
def test_all_is_drawn_on_one_figure(code: str, lines: int) -> None:
    plt.close("all")
    corrected = as_meant(code)
    assert corrected.notes == ("drew the chart on the figure created for it",)
    exec(corrected.code, {"plt": plt, "df": FRAME})
    assert [len(figure.axes[0].lines) for figure in map(plt.figure, plt.get_fignums())] == [lines]
    plt.close("all")


@pytest.mark.parametrize(
    "code",
    [
        'df.plot(x="month", y="delay")',
        'fig, ax = plt.subplots()\nplt.figure()\ndf.plot(x="month", y="delay")',
        'plt.figure()\ndf.plot(x="month", y="delay", ax=ax)',
        "plt.figure()\ndf.plot(subplots=True)",
        "plt.figure()\nplt.plot(x, y)\nax.plot()",
        "plt.figure()\nmodel.plot(history)",
        'df.plot(x="month")\nplt.figure()',
    ],
)
def test_other_charts_stay_as_they_are(code: str) -> None:
    assert as_meant(code).code == code
