"""What the machine and the environment around this package are like: packages, directories, proxies, namespaces."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from packaging.requirements import Requirement

DISTRIBUTION = "jupyter-codeagent"
SHOWN = {"IPython": "ipython", "ipykernel": "ipykernel", "JupyterLab": "jupyterlab", "Notebook": "notebook"}
FRAMES = {"pandas": "pandas", "polars": "polars"}
"""How people write the name -> the name of its distribution."""

INSTALL_BUBBLEWRAP = "sudo apt install bubblewrap   (Fedora: dnf, Arch: pacman -S)"
ALLOWED_TO_BUBBLEWRAP = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
"""Forbids user namespaces to programs without a profile of AppArmor; some systems have one for bwrap."""
NAMESPACE_SWITCHES: Mapping[str, tuple[str, str]] = {
    "/proc/sys/user/max_user_namespaces": ("0", "sudo sysctl user.max_user_namespaces=15000"),
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "sudo sysctl kernel.unprivileged_userns_clone=1"),
    ALLOWED_TO_BUBBLEWRAP: ("1", "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"),
}
"""File -> its value where user namespaces are forbidden, and the command that allows them."""
OWN_STATUS = "/proc/self/status"
UNCONFINED = (
    "in a container: a newer Docker or Podman, whose filter allows Landlock, or run it with --security-opt"
    " seccomp=unconfined; in a unit of systemd: RestrictNamespaces=no"
)
"""Where a filter of system calls surrounds this process already."""
ROUTES = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses that are reserved for documentation."""

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
    proxies = [f"{name}={without_password(value)}" for name, value in set_to.items() if value]
    return ", ".join(proxies) if any(set_to[name] for name in PROXY_VARIABLES) else ""


def without_password(address: str) -> str:
    """Return the address of a proxy with ``***`` for name and password."""
    before, at, host = address.rpartition("@")
    scheme, slashes, _ = before.partition("//")
    return f"{scheme if slashes else ''}{slashes}***@{host}" if at else address


def isolation_commands(*, has_bubblewrap: bool, read: Callable[[str], str]) -> Sequence[str]:
    """Return the commands that allow user namespaces here, where they are forbidden; none if no cause is known.

    `read` returns the content of a file of the kernel, or an empty text.
    """
    forbidding = [file for file, (value, _) in NAMESPACE_SWITCHES.items() if read(file).strip() == value]
    if not forbidding and "\nSeccomp:\t2" in read(OWN_STATUS):
        return [UNCONFINED]
    helps = not has_bubblewrap and all(file == ALLOWED_TO_BUBBLEWRAP for file in forbidding)
    switches = [
        f"{NAMESPACE_SWITCHES[file][1]}   (on the host: user namespaces are forbidden)" for file in forbidding
    ]
    return [*([INSTALL_BUBBLEWRAP] if helps else []), *switches]


def is_offline() -> bool:
    """Check whether this machine has no route to others. Sends nothing: UDP only looks the route up."""
    for family, address in ROUTES:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as one:
            one.connect((address, 9))
            return False
    return True


def read_kernel_file(path: str) -> str:
    """Return the content of a file below ``/proc``; empty where this kernel has none such."""
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        return ""
