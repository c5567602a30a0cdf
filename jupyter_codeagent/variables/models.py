"""Describers of fitted models: scikit-learn's estimators and pipelines."""

from __future__ import annotations

from typing import Any

from jupyter_codeagent.values import Privacy, VariableSummary


def describe_estimator(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Class, whether it is fitted, and on how many features; attributes that end in ``_`` come from fitting."""
    fitted = any(key.endswith("_") and not key.startswith("_") for key in vars(value))
    features = getattr(value, "n_features_in_", None)
    kind = type(value).__name__
    told = f" fitted{f' on {features} features' if isinstance(features, int) else ''}" if fitted else " not fitted"
    return VariableSummary(name=name, type_name=kind, headline=f"{name}: {kind}{told}", copyable=True)


DESCRIBERS = {"sklearn.base.BaseEstimator": describe_estimator}
