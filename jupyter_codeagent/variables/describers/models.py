"""Describers of models: scikit-learn's estimators and pipelines, PyTorch's modules and tensors."""

from __future__ import annotations

from itertools import islice
from typing import Any

from jupyter_codeagent.types.variables import Privacy, VariableSummary
from jupyter_codeagent.variables.columns import number_range
from jupyter_codeagent.variables.describers.arrays import SAMPLE_VALUES, shape_text
from jupyter_codeagent.variables.introspection import instance_attributes, type_name, type_path
from jupyter_codeagent.variables.text import looks_personal, quoted, safe

MAX_STEPS = 8
MAX_MODULES = 10_000
"""Parts of a network whose parameters are counted."""
_PLAIN_TENSORS = ("torch.Tensor", "torch.nn.parameter.Parameter")


def describe_estimator(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe an estimator: class, whether it is fitted (has attributes that end in ``_``), number of features."""
    own = instance_attributes(value)
    fitted, features = _fitted(own), own.get("n_features_in_")
    kind = safe(type_name(type(value)), 60)
    state = f" fitted{f' on {features} features' if type(features) is int else ''}" if fitted else " not fitted"
    inner = own.get("best_estimator_", own.get("estimator"))
    of = f" of {safe(type_name(type(inner)), 60)}" if inner is not None else ""
    return VariableSummary(name=name, type_name=kind, headline=f"{name}: {kind}{of}{state}", copyable=True)


def describe_pipeline(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Pipeline, FeatureUnion or ColumnTransformer by its steps; it is fitted if one of them is."""
    own = instance_attributes(value)
    steps: list[Any] = next(
        (own[key] for key in ("steps", "transformer_list", "transformers") if type(own.get(key)) is list), []
    )
    listed = [f"{quoted(str(step[0]))} {_step(step[1])}" for step in steps[:MAX_STEPS]]
    more = ", …" if len(steps) > MAX_STEPS else ""
    fitted = _fitted(own) or any(_fitted(instance_attributes(step[1])) for step in steps)
    kind = safe(type_name(type(value)), 60)
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{name}: {kind} [{', '.join(listed)}{more}] {'fitted' if fitted else 'not fitted'}",
        copyable=True,
    )


def describe_tensor(name: str, tensor: Any, privacy: Privacy) -> VariableSummary:
    """Describe a tensor by shape, dtype and device; its range only if it is contiguous in this process' memory."""
    path, device, dtype = type_path(type(tensor)), str(tensor.device), str(tensor.dtype).removeprefix("torch.")
    kind = safe(type_name(type(tensor)), 60)
    has_range = path in _PLAIN_TENSORS and privacy != "schema" and not looks_personal(name)
    text = _tensor_range(tensor) if has_range and device == "cpu" and str(tensor.layout) == "torch.strided" else ""
    grad = ", with gradient" if tensor.requires_grad else ""
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{name}: {kind} {shape_text(tuple(tensor.shape))} {safe(dtype)} {safe(device)}{grad}{text}",
        size_bytes=int(tensor.nbytes) if str(tensor.layout) == "torch.strided" else None,
    )


def describe_module(name: str, module: Any, privacy: Privacy) -> VariableSummary:
    """Describe a network by the number and device of its parameters and its parts; nothing is run."""
    own = instance_attributes(module)
    seen: dict[int, Any] = {}
    waiting, visited = [own], 0
    while waiting and visited < MAX_MODULES:
        part = waiting.pop()
        visited += 1
        seen.update((id(p), p) for p in (part.get("_parameters") or {}).values() if p is not None)
        waiting.extend(instance_attributes(m) for m in (part.get("_modules") or {}).values() if m is not None)
    count = sum(int(parameter.numel()) for parameter in seen.values())
    devices = sorted({safe(str(parameter.device)) for parameter in seen.values()})
    parts = [f"{quoted(label)} {safe(type_name(type(part)), 40)}" for label, part in _parts(own)]
    kind = safe(type_name(type(module)), 60)
    inside = f" [{', '.join(parts)}]" if parts else ""
    mode = "training" if own.get("training") is True else "eval"
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{name}: {kind} torch module, {count} parameters {' '.join(devices)}, {mode} mode{inside}",
    )


def _fitted(own: dict[str, Any]) -> bool:
    return any(key.endswith("_") and not key.startswith("_") for key in own)


def _step(step: object) -> str:
    return safe(step if type(step) is str else type_name(type(step)), 60)


def _tensor_range(tensor: Any) -> str:
    if not tensor.numel() or tensor.is_complex() or str(tensor.dtype) == "torch.bool" or not tensor.is_contiguous():
        return ""
    step = -(-tensor.numel() // SAMPLE_VALUES)
    values = tensor.detach().view(-1)[::step]
    values = values[values == values]  # noqa: PLR0124 - without NaN
    if not values.numel():
        return ""
    low, high = number_range(values.min().item(), values.max().item())
    return f" {low}..{high}{' (from a sample)' if step > 1 else ''}"


def _parts(own: dict[str, Any]) -> list[tuple[str, Any]]:
    return list(islice((own.get("_modules") or {}).items(), MAX_STEPS))


DESCRIBERS = {
    "sklearn.base.BaseEstimator": describe_estimator,
    "sklearn.pipeline.Pipeline": describe_pipeline,
    "sklearn.pipeline.FeatureUnion": describe_pipeline,
    "sklearn.compose._column_transformer.ColumnTransformer": describe_pipeline,
    "torch.Tensor": describe_tensor,
    "torch.nn.modules.module.Module": describe_module,
}
