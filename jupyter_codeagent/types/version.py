"""The version of this package, as it is installed."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def installed_version() -> str:
    """Return the version; both sides of a sandbox elsewhere must have the same."""
    try:
        return version("jupyter-codeagent")
    except PackageNotFoundError:
        return "0+uninstalled"  # imported from a checkout that nobody installed
