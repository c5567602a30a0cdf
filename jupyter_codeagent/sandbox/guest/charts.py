"""Altair charts leave the sandbox as specifications: their own HTML draws them with scripts, which never run."""

from __future__ import annotations

from typing import Any

VEGA_LITE_VERSIONS = (5, 6)


def install(formatter: Any) -> None:
    """Register with IPython's formatter of MIME bundles, by type name, so that nothing is imported."""
    for version in VEGA_LITE_VERSIONS:
        formatter.for_type_by_name(f"altair.vegalite.v{version}.api", "TopLevelMixin", _Specification(version))


class _Specification:
    def __init__(self, version: int) -> None:
        self._mime = f"application/vnd.vegalite.v{version}+json"

    def __call__(self, chart: Any, **_selection: Any) -> dict[str, Any]:
        return {self._mime: chart.to_dict()}
