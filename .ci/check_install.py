#!/usr/bin/env python3
"""Install the wheel into empty environments, use it there as a newcomer would, uninstall it: a table of results.

`make install-check` runs all combinations, `python .ci/check_install.py NAME …` some. Nothing but the standard
library is needed; pages are opened too where this Python has Playwright and the machine a Chromium. Interpreters
are taken from PATH: a combination whose Python is missing is said to be skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from model_server import MODEL, code, serving  # noqa: E402  (a folder of its own)

STEP_S = 900
"""Limit of each step: an installation on a busy machine takes minutes."""
START_S = 240
NOTHING: Mapping[str, str] = {}

Frame = Literal["pandas", "polars", "none"]
PROGRAMS: dict[Frame, tuple[str, str]] = {
    "pandas": (
        "import pandas as pd\ndf = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4]})",
        "df.groupby('city')['n'].sum()",
    ),
    "polars": (
        "import polars as pl\ndf = pl.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4]})",
        "df.filter(pl.col('city') == 'Oslo')['n'].sum()",
    ),
    "none": ("df = [1, 4]", "sum(df)"),
}
"""The user's cell, and what the scripted model answers: it shows a 5."""


@dataclass(frozen=True, kw_only=True)
class Combination:
    """What is installed together."""

    name: str
    packages: tuple[str, ...] = ()
    """Beside the wheel, as pip takes them."""
    frame: Frame = "pandas"
    python: str = ""
    """A command on PATH; empty for the one that runs this script."""
    lowest: bool = False
    """Every direct requirement in the lowest version that it admits."""
    source: Literal["wheel", "sdist", "folder"] = "wheel"
    """`folder`: a folder of wheels, without any index. `sdist`: built by pip, no Node.js or compiler on PATH."""
    application: Literal["lab", "notebook"] = "lab"


COMBINATIONS = (
    Combination(name="newest", packages=("pandas>=3", "numpy>=2", "polars")),
    Combination(name="nothing-else", frame="none"),
    Combination(name="polars-alone", packages=("polars",), frame="polars"),
    Combination(name="lab-4.4", packages=("jupyterlab==4.4.*", "pandas==2.2.*", "numpy==1.26.*")),
    Combination(name="lab-4.5", packages=("jupyterlab==4.5.*", "pandas==2.3.*", "numpy==2.2.*")),
    Combination(name="lab-4.6", packages=("jupyterlab==4.6.*", "pandas==3.0.*", "numpy==2.3.*")),
    Combination(name="notebook-7.4", packages=("notebook==7.4.*", "pandas>=2.2"), application="notebook"),
    Combination(name="notebook-7", packages=("notebook==7.*", "pandas>=3"), application="notebook"),
    Combination(name="lowest", packages=("pandas==2.2.*", "numpy==1.26.*"), lowest=True),
    Combination(name="sdist", packages=("pandas>=3",), source="sdist"),
    Combination(name="offline", packages=("pandas>=3",), source="folder"),
    Combination(name="python-3.11", packages=("pandas",), python="python3.11"),
    Combination(name="python-3.12", packages=("pandas",), python="python3.12"),
    Combination(name="python-3.13", packages=("pandas",), python="python3.13"),
    Combination(name="python-3.14", packages=("pandas",), python="python3.14"),
)


class CheckFailedError(Exception):
    """A step went wrong; the text is one line."""


class Installation:
    """One empty environment with a home of its own, and what is done in it."""

    def __init__(self, combination: Combination, directory: Path, dist: Path) -> None:
        self.combination = combination
        self.directory = directory
        self.dist = dist
        self.environment = directory / "env"
        self.home = directory / "home"
        self.log = directory / "log.txt"

    def check(self) -> str:
        """Do all steps; return what is installed, in words."""
        shutil.rmtree(self.directory, ignore_errors=True)
        self.home.mkdir(parents=True)
        (self.home / "tmp").mkdir()
        self._install()
        versions = self._check_doctor()
        self._check_lists()
        with serving() as server:
            cell, program = PROGRAMS[self.combination.frame]
            server.script(code(program))
            self._check_run(cell, server.url)
            pages = self._check_page(cell, server.url)
        self._check_uninstall()
        return f"{versions}{pages}"

    def run(self, *command: str | Path, ok: Sequence[int] = (0,), variables: Mapping[str, str] = NOTHING) -> str:
        """Run a command in the environment, with nothing of the caller's configuration; return what it prints."""
        try:
            done = subprocess.run(
                [str(part) for part in command],
                env=self._variables(variables),
                cwd=self.home,
                capture_output=True,
                text=True,
                timeout=STEP_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CheckFailedError(f"{Path(command[0]).name} {command[1]} took longer than {STEP_S} s") from error
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(map(str, command))}\n{done.stdout}{done.stderr}\n")
        if done.returncode not in ok:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["no output"]
            shown = " ".join(map(str, command[:3]))
            raise CheckFailedError(f"{Path(shown).name}: {said[-1][:160]}")
        return done.stdout + done.stderr

    def _variables(self, variables: Mapping[str, str]) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        # One for all combinations; never for an sdist, which pip knows by its path alone.
        kept["PIP_CACHE_DIR"] = str(self.directory.parent / "pip-cache")
        from_sdist = self.combination.source == "sdist"
        if from_sdist:
            kept["PIP_NO_CACHE_DIR"] = "1"
        system = "" if from_sdist else ":/usr/bin:/bin"  # no Node.js, no compiler
        return {
            **kept,
            "HOME": str(self.home),
            "PATH": f"{self.environment / 'bin'}{system}",
            "TMPDIR": str(self.home / "tmp"),
            "LANG": "C.UTF-8",
            **variables,
        }

    def _install(self) -> None:
        python = shutil.which(self.combination.python) if self.combination.python else sys.executable
        self.run(python or "", "-m", "venv", self.environment)
        wheel = next(self.dist.glob("*.whl"))
        lowest = lowest_requirements(wheel) if self.combination.lowest else []
        wanted = [*self.combination.packages, *lowest]
        pip = (self.environment / "bin" / "python", "-m", "pip")
        if self.combination.source == "folder":
            folder = self.directory / "wheels"
            self.run(*pip, "download", "-q", "-d", folder, wheel, *wanted)
            offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": os.devnull}
            self.run(*pip, "install", "-q", "jupyter-codeagent", *wanted, variables=offline)
        else:
            package = wheel if self.combination.source == "wheel" else next(self.dist.glob("*.tar.gz"))
            self.run(*pip, "install", "-q", package, *wanted)
        self.run(*pip, "check")

    def _check_doctor(self) -> str:
        """`doctor` finds all but a model, and says which command gets one; return the versions that it names."""
        said = self.run("jupyter", "codeagent", "doctor", ok=(1,))
        packages = re.search(r"^(?:ok|note) +packages: (.*)$", said, re.MULTILINE)
        failed = re.findall(r"^NOT OK +([a-z ]+):", said, re.MULTILINE)
        if failed != ["model"] or packages is None:
            raise CheckFailedError(f"doctor: {', '.join(failed) or 'no model, and it does not say so'}")
        if "jupyter-codeagent[local]" not in said:
            raise CheckFailedError("doctor does not say how to get a model")
        if len(said.splitlines()) > 12:
            raise CheckFailedError(f"doctor prints {len(said.splitlines())} lines")
        return packages[1]

    def _check_lists(self) -> None:
        lab = self.run("jupyter", "labextension", "list")
        if not re.search(r"jupyter-codeagent v\S+ \S*enabled\S* \S*OK", lab):
            raise CheckFailedError("JupyterLab does not list the extension as enabled and OK")
        server = self.run("jupyter", "server", "extension", "list")
        if not re.search(r"jupyter_codeagent \d\S* \S*OK", server):
            raise CheckFailedError("Jupyter Server does not list the extension as OK")

    def _check_run(self, cell: str, url: str) -> None:
        """Run a notebook with a question, without a browser: kernel, sandbox and copies work."""
        self._write_notebook("given.ipynb", cell)
        variables = {"CODEAGENT_BASE_URL": url, "CODEAGENT_MODEL": MODEL}
        self.run("jupyter", "codeagent", "run", "given.ipynb", "-o", "done.ipynb", variables=variables)
        cells = json.loads((self.home / "done.ipynb").read_text(encoding="utf-8"))["cells"]
        found = [one for one in cells if one["metadata"].get("codeagent", {}).get("role") == "code"]
        if not found or "5" not in json.dumps(found[0]["outputs"]):
            raise CheckFailedError("the question has no result")

    def _write_notebook(self, name: str, cell: str) -> None:
        sources = [f"%load_ext jupyter_codeagent\n{cell}", "%%agent\nsum of the numbers in df"]
        empty: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        cells = [{**empty, "id": f"c{n}", "source": source} for n, source in enumerate(sources)]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
        (self.home / name).write_text(json.dumps(notebook), encoding="utf-8")

    def _check_page(self, cell: str, url: str) -> str:
        """Ask the same in a page: the extension is active, its panel opens, and the result becomes a cell."""
        chromium = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None)
        try:
            from playwright.sync_api import sync_playwright
        except ModuleNotFoundError:
            return "; no page opened"
        if chromium is None:
            return "; no page opened"
        self._write_notebook("page.ipynb", cell)
        application = self.combination.application
        asked = {"CODEAGENT_BASE_URL": url, "CODEAGENT_MODEL": MODEL}
        with self._serving(asked) as address, sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            try:
                page = browser.new_page()
                page.set_default_timeout(START_S * 1000)
                page.goto(f"{address}{'/lab/tree' if application == 'lab' else '/notebooks'}/page.ipynb")
                page.wait_for_function(IS_READY)
                if not page.evaluate("() => window.jupyterapp.isPluginActivated('jupyter-codeagent:plugin')"):
                    raise CheckFailedError(f"the extension is not active in {application}")
                page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
                page.wait_for_function(HAS_RESULT)
                page.evaluate("() => void window.jupyterapp.commands.execute('jupyter-codeagent:open')")
                page.get_by_role("region", name="Code agent").wait_for()
                page.screenshot(path=f"{self.directory}.png")
            except Exception as error:
                picture = self.directory / "page.png"
                page.screenshot(path=str(picture))
                raise CheckFailedError(f"page: {str(error).splitlines()[0]}, see {picture}") from error
            finally:
                browser.close()
        return f"; in a page of {application}"

    @contextmanager
    def _serving(self, variables: Mapping[str, str]) -> Iterator[str]:
        app = "LabApp" if self.combination.application == "lab" else "JupyterNotebookApp"
        port = free_port()
        command = [
            *("jupyter", self.combination.application, "--no-browser", "--allow-root", f"--ServerApp.port={port}"),
            *("--IdentityProvider.token=", "--ServerApp.password=", f"--{app}.expose_app_in_browser=True"),
        ]
        with tempfile.TemporaryDirectory(prefix="cg-") as runtime, self.log.open("a", encoding="utf-8") as log:
            environment = self._variables({**variables, "JUPYTER_RUNTIME_DIR": runtime})
            command[0] = str(self.environment / "bin" / "jupyter")
            server = subprocess.Popen(command, env=environment, cwd=self.home, stdout=log, stderr=log)
            try:
                wait_for(f"http://127.0.0.1:{port}", server)
                yield f"http://127.0.0.1:{port}"
            finally:
                server.terminate()
                try:
                    server.wait(START_S)
                except subprocess.TimeoutExpired as error:
                    server.kill()
                    raise CheckFailedError(f"the server does not end {START_S} s after SIGTERM") from error

    def _check_uninstall(self) -> None:
        """Nothing is left in the environment; in the home only the history, which is the user's."""
        self.run(self.environment / "bin" / "python", "-m", "pip", "uninstall", "-q", "-y", "jupyter-codeagent")
        left = [*self.environment.rglob("*codeagent*"), *(self.home / "tmp").rglob("*codeagent*")]
        left += [file for file in self.home.rglob("*codeagent*/**/*") if "history.sqlite" not in file.name]
        if left:
            names = ", ".join(str(path.relative_to(self.directory)) for path in left[:4])
            raise CheckFailedError(f"left behind: {names}")


IS_READY = """() => {
  const widget = window.jupyterapp?.shell.currentWidget;
  const kernel = widget?.sessionContext?.session?.kernel;
  return Boolean(widget?.sessionContext?.isReady && kernel?.status === 'idle');
}"""
HAS_RESULT = """() => {
  const cells = window.jupyterapp.shell.currentWidget.content.model.cells;
  return [...Array(cells.length).keys()].some(n => {
    const cell = cells.get(n);
    return cell.getMetadata('codeagent')?.role === 'code' && JSON.stringify(cell.toJSON().outputs).includes('5');
  });
}"""


def free_port() -> int:
    """Return a port that nobody listens on; old servers do not tell which one they took."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(address: str, server: subprocess.Popen[bytes]) -> None:
    """Wait until the server answers."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and server.poll() is None:
        with suppress(OSError):
            urllib.request.urlopen(f"{address}/api", timeout=START_S).close()  # noqa: S310  (on this machine)
            return
        time.sleep(0.2)
    raise CheckFailedError("the server does not start")


def lowest_requirements(wheel: Path) -> list[str]:
    """Return ``name==version`` for each direct requirement, in the lowest version that the wheel admits."""
    with zipfile.ZipFile(wheel) as opened:
        metadata = next(name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
        text = opened.read(metadata).decode("utf-8")
    listed = [line for line in re.findall(r"^Requires-Dist: (.*)$", text, re.MULTILINE) if "extra ==" not in line]
    return [re.sub(r"^([\w.-]+).*>=([\d.]+).*$", r"\1==\2", line) for line in listed]


def runs(python: str) -> bool:
    """Check whether the command is an interpreter: one of a version manager may only say that there is none."""
    found = shutil.which(python)
    return found is not None and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0


def table(rows: Sequence[tuple[str, str, str]]) -> str:
    """Return the rows as text, one line each."""
    width = max(len(name) for name, _, _ in rows)
    return "\n".join(f"{name:<{width}}  {result:<8} {text}" for name, result, text in rows)


def main() -> int:
    """Check the combinations that were named, or all; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(one.name for one in COMBINATIONS)}")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where wheel and sdist are (dist)")
    work = ROOT / "build" / "install-check"
    parser.add_argument("--work", type=Path, default=work, help="where environments are made")
    options = parser.parse_args()
    rows = []
    for one in COMBINATIONS:
        if options.names and one.name not in options.names:
            continue
        if one.python and not runs(one.python):
            rows.append((one.name, "skipped", f"there is no {one.python} on PATH"))
        else:
            started = time.monotonic()
            directory = (options.work / one.name).resolve()
            try:
                text = Installation(one, directory, options.dist.resolve()).check()
                rows.append((one.name, "ok", f"{text}; {time.monotonic() - started:.0f} s"))
            except CheckFailedError as error:
                rows.append((one.name, "FAILED", f"{error} (all of it: {directory}/log.txt)"))
            else:
                shutil.rmtree(directory)
        print(table(rows[-1:]), file=sys.stderr, flush=True)
    print(table(rows))
    return any(result == "FAILED" for _, result, _ in rows)


if __name__ == "__main__":
    raise SystemExit(main())
