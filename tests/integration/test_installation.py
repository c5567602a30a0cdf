"""A release builds and installs where there is neither Node.js nor a compiler, and goes away again."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import files
from pathlib import Path, PurePath

import pytest

ROOT = Path(__file__).parents[2]
NAME = "jupyter-codeagent"
OF_PIP = {"direct_url.json", "INSTALLER", "REQUESTED", "RECORD"}


class Environment:
    """A virtual environment in which nothing else can be run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory], check=True)

    @property
    def interpreter(self) -> Path:
        return self.directory / "bin" / "python"

    def python(self, *arguments: str | Path, cwd: Path = ROOT) -> str:
        return self._run(self.interpreter, *arguments, cwd=cwd)

    def pip(self, *arguments: str | Path) -> None:
        """With the pip of these tests: to unpack one of its own takes seconds."""
        self._run(sys.executable, "-m", "pip", "--python", self.interpreter, *arguments, "--quiet", cwd=ROOT)

    def _run(self, *command: str | Path, cwd: Path) -> str:
        environment = {**os.environ, "PATH": str(self.interpreter.parent), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def files(self) -> set[Path]:
        found = (file for file in self.directory.rglob("*") if file.is_file())
        return {file for file in found if "__pycache__" not in file.parts}


def lasting(paths: Iterable[PurePath]) -> set[str]:
    """Names below the environment that belong to the package, however it was installed."""
    named = (os.path.normpath(path).replace("../", "") for path in paths if path.name not in OF_PIP)
    return {name for name in named if "__pycache__" not in name}


@pytest.mark.long("fetches what builds a package, and builds two")
def test_the_sdist_installs_without_node_or_compiler_as_the_wheel_does_and_uninstalling_leaves_nothing(
    tmp_path: Path,
) -> None:
    environment = Environment(tmp_path / "env")
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    environment.pip("install", *(one for one in build["requires"] if not one.startswith("jupyter-builder")))
    make = "import sys, build_backend; print(build_backend.build_sdist(sys.argv[1]))"
    sdist = tmp_path / environment.python("-c", make, tmp_path).splitlines()[-1]
    before = environment.files()

    environment.pip("install", "--no-deps", "--no-build-isolation", sdist)
    listing = "import importlib.metadata as m; print('\\n'.join(map(str, m.files('jupyter-codeagent'))))"
    installed = environment.python("-c", listing, cwd=tmp_path).splitlines()
    assert lasting(map(PurePath, installed)) == lasting(files(NAME) or ()), "this environment has the wheel"
    assert any("labextensions/jupyter-codeagent/static/remoteEntry" in path for path in installed)
    assert any(path.endswith("jupyter_server_config.d/jupyter_codeagent.json") for path in installed)

    environment.pip("uninstall", "--yes", NAME)
    assert environment.files() == before
