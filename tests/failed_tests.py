"""A pytest plugin: `--failed-to FILE` writes down which tests failed, for `.ci/test` to run them again.

pytest's own `--last-failed` would do with one process. With several, `--dist loadgroup` adds its group to a test's
id, and no later run knows it by that.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GROUP = re.compile(r"@[^\]/:]*$")
"""What `--dist loadgroup` puts behind a test's id; an `@` of a path or a parameter has `/`, `:` or `]` after it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    told = "write the ids of tests that failed, and of files that could not be read, to this file, one a line"
    parser.addoption("--failed-to", type=Path, metavar="FILE", help=told)


def pytest_configure(config: pytest.Config) -> None:
    path: Path | None = config.getoption("--failed-to")
    if path is not None and not hasattr(config, "workerinput"):  # xdist's controller hears of all tests
        config.pluginmanager.register(FailedTests(path))


class FailedTests:
    """Of one run. A run that is killed leaves no file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ids: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._ids.add(without_group(report.nodeid))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be imported: with several processes the tests of the others run all the same."""
        if report.failed:
            self._ids.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._path.write_text("".join(f"{test}\n" for test in sorted(self._ids)), encoding="utf-8")


def without_group(test: str) -> str:
    """The id by which a run in one process knows a test."""
    return GROUP.sub("", test)
