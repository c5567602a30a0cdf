"""A function of the user's as a stub: name, signature, what is told of it."""

from __future__ import annotations

import datetime
import inspect
import typing
from collections.abc import Callable
from typing import Any, Literal

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.tools.registry import REGISTRY, ToolRegistry, agent_tool
from jupyter_codeagent.tools.tool import stub_line, tool_of
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.variables import ToolPolicy


def plain(a: int, b: "str" = "x", *rest: float, flag: bool = False, **more: Any) -> pd.DataFrame:  # noqa: UP037
    return pd.DataFrame()


def dated(
    day: datetime.date = datetime.date(2013, 1, 1), kind: Literal["a.b", "c"] = "c", n: int | None = None
) -> None: ...


def bare(x, y=3): ...  # type: ignore[no-untyped-def]


def secret_default(key: str = "k" * 100, place: object = object()) -> None: ...


@pytest.mark.parametrize(
    ("function", "signature"),
    [
        (plain, "(a: int, b: str = 'x', *rest: float, flag: bool = False, **more: Any) -> DataFrame"),
        (dated, "(day: date = ..., kind: Literal['a.b', 'c'] = 'c', n: int | None = None) -> None"),
        (bare, "(x, y=3)"),
        (secret_default, "(key: str = ..., place: object = ...) -> None"),
    ],
)
def test_a_signature_is_told_with_the_last_names_of_types_and_literal_defaults(
    function: Callable[..., Any], signature: str
) -> None:
    assert tool_of(function).stub.signature == signature
    compile(f"from __future__ import annotations\ndef f{signature}: ...", "stub", "exec")


@given(st.from_type(type(typing.cast("Any", int))), st.text(max_size=30))
def test_whatever_the_annotation_and_the_default_the_stub_is_python(annotation: type, default: str) -> None:
    def function(x: Any) -> None: ...

    parameter = inspect.Parameter(
        "x", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation, default=default
    )
    function.__signature__ = inspect.Signature([parameter])  # type: ignore[attr-defined]
    signature = tool_of(function).stub.signature
    compile(f"from __future__ import annotations\ndef f{signature}: ...", "stub", "exec")


def test_the_model_is_told_one_line_with_the_first_words_of_the_docstring() -> None:
    def weather(origin: str) -> pd.DataFrame:
        """Hourly weather
        of an airport.

        A long story that `help` tells.
        """
        return pd.DataFrame({"origin": [origin]})

    tool = tool_of(weather)
    assert stub_line(tool.stub) == "def weather(origin: str) -> DataFrame  # Hourly weather of an airport."
    assert "A long story" in tool.stub.doc
    weather.__doc__ = "word " * 200
    assert len(stub_line(tool_of(weather).stub)) < 460


@pytest.mark.parametrize("name", ["print", "tools", "class", "_hidden", "a b", "get_ipython", "open", "", "In"])
def test_a_name_that_means_something_else_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        tool_of(plain, name=name) if name else tool_of(lambda: 1)


def test_what_cannot_be_called_or_has_no_signature_is_refused() -> None:
    with pytest.raises(UsageError, match="is not a function"):
        tool_of(3, name="three")
    with pytest.raises(UsageError, match="policy='never' of plain"):
        tool_of(plain, policy=typing.cast("ToolPolicy", "never"))
    with pytest.raises(UsageError, match="cannot be read"):
        tool_of(type, name="kind_of")


def test_a_decorated_function_stays_what_it_is_and_is_in_the_registry_under_its_name() -> None:
    try:

        @agent_tool
        def doubled(n: int) -> int:
            return 2 * n

        @agent_tool(name="thrice", policy="auto")
        def tripled(n: int) -> int:
            return 3 * n

        assert (doubled(2), tripled(2)) == (4, 6)
        tools = REGISTRY.tools()
        assert {name: tool.stub.policy for name, tool in tools.items()} == {"doubled": "ask", "thrice": "auto"}
    finally:
        for name in list(REGISTRY.tools()):
            REGISTRY.remove(name)


def test_tools_come_in_the_order_of_names_and_a_cell_that_is_run_again_replaces_its_own() -> None:
    registry = ToolRegistry()
    for name in ("b", "a", "b"):
        registry.add(tool_of(plain, name=name))
    assert list(registry.tools()) == ["a", "b"]
    with pytest.raises(UsageError, match="No tool named 'c'; registered: b, a"):
        registry.remove("c")


def test_a_default_that_looks_like_a_secret_is_told_to_nobody() -> None:
    token = "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"

    def weather(
        city: str = "Oslo",
        api_key: str = "abc",
        first: str = token,
        url: str = "postgresql://ada:geheim@db/x",
        headers: dict = {"Authorization": "x"},  # type: ignore[type-arg]  # noqa: B006
        n: int = 3,
    ) -> str:
        return city

    hidden = "api_key: str = ..., first: str = ..., url: str = ..., headers: dict = ..."
    assert tool_of(weather).stub.signature == f"(city: str = 'Oslo', {hidden}, n: int = 3) -> str"
