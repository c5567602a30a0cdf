"""`.ci/test` on a few tests of its own: what failed beside others gets one more chance, and no failure is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYPROJECT = """[tool.pytest.ini_options]
addopts = "--import-mode=importlib --strict-markers -p no:cacheprovider -p xdist"
testpaths = ["tests"]
pythonpath = ["tests"]
markers = ["alone: is not run beside others"]
"""
PASSES = "def test_passes(): pass\n"
FAILS = "def test_fails(): assert False\n"
ALONE = "@pytest.mark.alone\ndef test_alone(): pass\n"
ONCE = """
def once(name):
    if not Path(name).exists():
        Path(name).touch()
        raise RuntimeError("too little of the machine")

@pytest.mark.xdist_group("some group")
@pytest.mark.parametrize("value", ["a@b"])
def test_first_beside_others(value): once("first")

@pytest.mark.parametrize("value", ["c@d e"])
def test_second_beside_others(value): once("second")

@pytest.fixture
def ends_badly():
    yield
    once("third")

def test_ends_badly(ends_badly): pass
"""
CRASHES_ONCE = """
def test_crashes():
    if not Path("crashed").exists():
        Path("crashed").touch()
        os._exit(1)
"""


@dataclass(frozen=True, kw_only=True)
class Ended:
    status: int
    lines: list[str]
    """Of its output."""

    def named(self, start: str) -> list[str]:
        return [line.removeprefix(start) for line in self.lines if line.startswith(start)]

    @property
    def passed_alone(self) -> list[str]:
        return self.named("failed beside others, passed alone: tests/test_it.py::")


def run(root: Path, *tests: str, check: str = "true") -> Ended:
    """`.ci/test` in a checkout that has these tests, and a `make check` that says yes or no."""
    (root / ".ci").mkdir()
    (root / "tests").mkdir(exist_ok=True)
    shutil.copy(ROOT / ".ci" / "test", root / ".ci")
    shutil.copy(ROOT / "tests" / "failed_tests.py", root / "tests")
    (root / "tests" / "conftest.py").write_text('pytest_plugins = ["failed_tests"]\n')
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "tests" / "test_it.py").write_text(
        "import os\nfrom pathlib import Path\nimport pytest\n" + "".join(tests)
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "MAKE": check,
        "TEST_PROCESSES": "2",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # they take longer to load than the tests to run
    }
    command = [root / ".ci" / "test"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    return Ended(status=ended.returncode, lines=ended.stdout.splitlines())


def test_what_failed_beside_others_and_passes_alone_is_named_and_fails_nothing(tmp_path: Path) -> None:
    ended = run(tmp_path, PASSES, ALONE, ONCE)
    assert ended.status == 0, ended.lines
    assert ended.passed_alone == [
        "test_ends_badly",
        "test_first_beside_others[a@b]",
        "test_second_beside_others[c@d e]",
    ]
    assert ended.named("FAILED: ") == []


def test_a_test_whose_process_died_beside_others_is_run_alone(tmp_path: Path) -> None:
    ended = run(tmp_path, PASSES, ALONE, CRASHES_ONCE)
    assert (ended.status, ended.passed_alone) == (0, ["test_crashes"]), ended.lines


def test_what_fails_twice_fails_beside_what_passed_alone(tmp_path: Path) -> None:
    ended = run(tmp_path, ALONE, ONCE, FAILS)
    assert ended.status == 1, ended.lines
    (told,) = ended.named("FAILED: ")
    assert told.startswith("the tests, beside others and alone: tests/test_it.py::test_fails: ")
    assert len(ended.passed_alone) == 3


def test_many_failures_are_not_run_again(tmp_path: Path) -> None:
    many = "@pytest.mark.parametrize('n', range(13))\ndef test_many(n): once(f'many {n}')\n"
    ended = run(tmp_path, ALONE, ONCE.partition("@pytest")[0], many)
    assert ended.status == 1, ended.lines
    assert ended.named("FAILED: the tests: 13 of them") != []
    assert ended.passed_alone == []


def test_a_second_chance_hides_neither_a_failed_check_nor_a_test_that_fails_alone(tmp_path: Path) -> None:
    ended = run(tmp_path, ONCE, "@pytest.mark.alone\ndef test_alone(): assert False\n", check="false")
    assert ended.status == 2, ended.lines
    assert ended.named("FAILED: ") == ["the tests that run alone: see above", "make check: see above"]
    assert len(ended.passed_alone) == 3


def test_a_check_that_fails_beside_the_tests_and_passes_alone_is_named_and_fails_nothing(tmp_path: Path) -> None:
    once = tmp_path / "once"
    once.write_text("#!/bin/sh\n[ -e checked ] || { touch checked; exit 1; }\n")
    once.chmod(0o755)
    ended = run(tmp_path, PASSES, ALONE, check=str(once))
    assert (ended.status, ended.named("failed beside others, passed alone: ")) == (0, ["make check"]), ended.lines


def test_a_file_that_cannot_be_imported_is_not_hidden_by_tests_that_pass_alone(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_other.py").write_text("import nothing_of_this_name\n")
    ended = run(tmp_path, ONCE)
    assert ended.status == 2, ended.lines
    (told, _alone) = ended.named("FAILED: ")
    assert told.startswith("the tests: those that failed beside others could not be run alone (pytest ended with ")
    assert ended.passed_alone == []
