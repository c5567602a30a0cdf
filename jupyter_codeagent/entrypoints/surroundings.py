"""What the machine and the environment around this package are like: packages, directories, proxies, namespaces."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement

DISTRIBUTION = "jupyter-codeagent"
SHOWN = {"IPython": "ipython", "ipykernel": "ipykernel", "JupyterLab": "jupyterlab", "Notebook": "notebook"}
FRAMES = {"pandas": "pandas", "polars": "polars"}
"""How people write the name -> the name of its distribution."""

NAMESPACE_SWITCHES: Mapping[str, tuple[str, str]] = {
    "/proc/sys/user/max_user_namespaces": ("0", "sudo sysctl user.max_user_namespaces=15000"),
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "sudo sysctl kernel.unprivileged_userns_clone=1"),
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
}
"""File -> its value where user namespaces are forbidden, and the command that allows them."""

PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")


@dataclass(frozen=True, kw_only=True)
class Unmet:
    """A requirement of this package that the environment does not meet."""

    requirement: str
    """``ipykernel<8,>=7.0``."""
    found: str
    """The version that is installed; empty if none is."""


def version_of(distribution: str) -> str:
    """Return the installed version, or an empty text."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def unmet_requirements(
    listed: Iterable[str] | None = None, installed: Callable[[str], str] = version_of
) -> tuple[Unmet, ...]:
    """Return what is missing or too old or too new, of the requirements without extras."""
    found = []
    for text in (requires(DISTRIBUTION) or ()) if listed is None else listed:
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        has = installed(requirement.name)
        if not has or not requirement.specifier.contains(has, prereleases=True):
            found.append(Unmet(requirement=f"{requirement.name}{requirement.specifier}", found=has))
    return tuple(found)


def versions_text(installed: Callable[[str], str] = version_of) -> str:
    """Return ``Python 3.13.1, IPython 9.7.0, ipykernel 7.1.0, JupyterLab 4.5.0, pandas 3.0.1``."""
    python = f"Python {'.'.join(map(str, sys.version_info[:3]))}"
    return ", ".join(
        [python, *(f"{name} {has}" for name, one in (SHOWN | FRAMES).items() if (has := installed(one)))]
    )


def is_writable(path: Path) -> bool:
    """Check whether the directory can be written, or made, without making it."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path.is_dir() and os.access(path, os.W_OK | os.X_OK)


def proxies_text(environ: Mapping[str, str]) -> str:
    """Return the proxies that are set, without their passwords; empty if there are none."""
    set_to = {name: environ.get(name) or environ.get(name.lower(), "") for name in (*PROXY_VARIABLES, "NO_PROXY")}
    proxies = [f"{name}={_without_password(value)}" for name, value in set_to.items() if value]
    return ", ".join(proxies) if any(set_to[name] for name in PROXY_VARIABLES) else ""


def _without_password(address: str) -> str:
    before, at, host = address.rpartition("@")
    scheme, slashes, _ = before.partition("//")
    return f"{scheme if slashes else ''}{slashes}***@{host}" if at else address


def isolation_commands(*, has_bubblewrap: bool, read: Callable[[str], str]) -> Sequence[str]:
    """Return the commands that give this machine a stronger sandbox; none if it lacks nothing that is known.

    `read` returns the content of a file of the kernel, or an empty text.
    """
    install = [] if has_bubblewrap else ["sudo apt install bubblewrap   (Fedora: dnf, Arch: pacman -S)"]
    switches = [
        f"{command}   (on the host: user namespaces are forbidden)"
        for file, (value, command) in NAMESPACE_SWITCHES.items()
        if read(file).strip() == value
    ]
    return [*install, *switches]


def read_kernel_file(path: str) -> str:
    """Return the content of a file below ``/proc``; empty where this kernel has none such."""
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        return ""
