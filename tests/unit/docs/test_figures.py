"""How right it is: what front page and README say was measured, and is said with its uncertainty."""

from __future__ import annotations

import re
from math import sqrt

import pytest
from doc_pages import DOCS, ROOT

COUNTS = re.compile(r"(?P<right>\d+) of (?P<all>\d+)")
ROW = re.compile(
    r"^\|[^|]+\| (?P<right>\d+) of (?P<all>\d+) \((?P<percent>\d+) %\) \| (?P<low>\d+) to (?P<high>\d+) % \|$",
    re.MULTILINE,
)
FRONT = (DOCS / "index.md").read_text(encoding="utf-8")
MEASURED = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("evals.md", "explore.md"))


@pytest.mark.parametrize("page", ["docs/index.md", "README.md"])
def test_every_count_was_measured(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8").replace("**", "")
    counts = {found[0] for found in COUNTS.finditer(text)}
    assert len(counts) > 3
    assert {count for count in counts if not re.search(rf"\b{count}\b", MEASURED.replace("**", ""))} == set()


def test_every_count_of_the_front_page_has_its_share_and_its_interval() -> None:
    rows = list(ROW.finditer(FRONT))
    assert len(rows) == len(COUNTS.findall(FRONT))
    for row in rows:
        low, high = wilson(int(row["right"]), int(row["all"]))
        said = (int(row["percent"]), int(row["low"]), int(row["high"]))
        assert said == (round(100 * int(row["right"]) / int(row["all"])), round(100 * low), round(100 * high)), row[
            0
        ]


def wilson(right: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share."""
    share, width = right / total, z * z / total
    middle = (share + width / 2) / (1 + width)
    half = z * sqrt(share * (1 - share) / total + width / 4 / total) / (1 + width)
    return middle - half, middle + half
