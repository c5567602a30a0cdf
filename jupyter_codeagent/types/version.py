"""The installed version of this package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """Return the version; both sides of a remote sandbox must have the same."""
    try:
        return version("jupyter-codeagent")
    except PackageNotFoundError:
        return "0+uninstalled"  # a checkout that is not installed
