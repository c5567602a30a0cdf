"""How often it is right: what the README and the front page say of it was measured, and has its uncertainty."""

from __future__ import annotations

import re
from math import sqrt

from doc_pages import DOCS, ROOT

COUNTS = re.compile(r"\d+ of \d+")
SHARE = r"(?P<right>\d+) of (?P<all>\d+) \((?P<percent>\d+)\s%\)"
ROW = re.compile(rf"^\|[^|]+\| {SHARE} \| (?P<low>\d+) to (?P<high>\d+)\s% \|$", re.MULTILINE)
README = (ROOT / "README.md").read_text(encoding="utf-8")
MEASURED = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("evals.md", "explore.md"))


def test_every_count_was_measured() -> None:
    counts = set(COUNTS.findall(README))
    assert len(counts) > 3
    assert {count for count in counts if not re.search(rf"\b{count}\b", MEASURED)} == set()


def test_every_count_has_its_share_and_its_interval() -> None:
    rows = list(ROW.finditer(README))
    assert len(rows) == len(COUNTS.findall(README))
    for row in rows:
        right, total = int(row["right"]), int(row["all"])
        wanted = [round(100 * part) for part in (right / total, *wilson(right, total))]
        assert [int(row[name]) for name in ("percent", "low", "high")] == wanted, row[0]


def wilson(right: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share."""
    share, width = right / total, z * z / total
    middle = (share + width / 2) / (1 + width)
    half = z * sqrt(share * (1 - share) / total + width / 4 / total) / (1 + width)
    return middle - half, middle + half
