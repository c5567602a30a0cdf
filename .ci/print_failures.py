"""Print which tests failed and why, from the JUnit reports given: of CI only the end of the output is seen."""

import sys
from pathlib import Path
from xml.etree import ElementTree

WHY_LINES = 3


def failures(report: Path) -> list[str]:
    """Return a text for each test of the report that failed or could not be run."""
    texts = []
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314 (our own pytest wrote it)
        for result in (*case.findall("failure"), *case.findall("error")):
            why = "\n  ".join(result.get("message", "").splitlines()[:WHY_LINES])
            texts.append(f"FAILED: {case.get('classname')}::{case.get('name')}\n  {why}\n")
    return texts


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        if path.exists():
            print("".join(failures(path)), end="")
        else:
            print(f"FAILED: the tests that {path} should tell of ended without a report")
