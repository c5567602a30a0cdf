"""JSON Schema as a signature."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.tools.schema import FRAME, annotation_of, columns_of, returned_keys, safe_name, shape_of
from jupyter_codeagent.tools.tool import signature_text, tool_of

FORECAST = {
    "type": "object",
    "properties": {
        "days": {"type": "integer", "default": 3, "description": "How many\n days."},
        "place-id": {"type": "string"},
        "units": {"enum": ["metric", "us"], "default": "metric"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "class": {"anyOf": [{"type": "number"}, {"type": "null"}]},
    },
    "required": ["place-id"],
}


def test_required_parameters_come_first_and_names_are_made_safe() -> None:
    shape = shape_of(FORECAST, {"type": "array", "items": {"type": "object"}})
    assert signature_text(shape.signature) == (
        "(place_id: str, days: int = 3, units: Literal['metric', 'us'] = 'metric', tags: list[str] = ..., "
        "class_: float | None = ...) -> list[dict]"
    )
    assert shape.properties == {
        "place_id": "place-id",
        "days": "days",
        "units": "units",
        "tags": "tags",
        "class_": "class",
    }
    assert shape.notes == "days: How many days."


@pytest.mark.parametrize(
    ("schema", "annotation"),
    [
        ({}, "Any"),
        ({"type": ["string", "null"]}, "str | None"),
        ({"type": "array"}, "list"),
        ({"$ref": "#/$defs/x"}, "dict"),
        ({"enum": [str(n) for n in range(50)], "type": "string"}, "str"),
        ({"enum": [1.5], "type": "number"}, "float"),
        ({"type": "array", "items": {"type": "array", "items": {"enum": ["a"]}}}, "list[list[Literal['a']]]"),
        ({"type": "made up"}, "Any"),
        ({"anyOf": []}, "Any"),
    ],
)
def test_types_are_those_of_python(schema: dict[str, Any], annotation: str) -> None:
    assert annotation_of(schema) == annotation


@pytest.mark.parametrize(
    ("name", "safe"),
    [("get-x", "get_x"), ("3d", "x3d"), ("class", "class_"), ("a.b/c", "a_b_c"), ("ü!", "x"), ("", "x")],
)
def test_a_name_becomes_one_of_python(name: str, safe: str) -> None:
    assert safe_name(name) == safe
    assert safe_name(name, frozenset({safe})) == f"{safe}2"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)
SCHEMA = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "integer", "array", "object", "null"]) | JSON,
        "enum": st.lists(st.text(max_size=5) | st.integers(), max_size=4) | JSON,
        "items": JSON,
        "anyOf": JSON,
        "default": JSON,
        "description": JSON,
        "properties": JSON,
        "required": JSON,
    },
)


@given(st.dictionaries(st.text(max_size=12), SCHEMA, max_size=5), JSON)
def test_whatever_a_server_calls_a_schema_the_stub_is_python(properties: dict[str, Any], required: Any) -> None:
    schema = {"properties": properties, "required": required}
    shape = shape_of(json.loads(json.dumps(schema)))

    def function() -> None: ...

    function.__signature__ = shape.signature  # type: ignore[attr-defined]
    signature = tool_of(function, name="forecast").stub.signature
    compile(f"from __future__ import annotations\ndef f{signature}: ...", "stub", "exec")
    assert len(shape.properties) == len(properties)
    assert isinstance(shape.signature, inspect.Signature)


@pytest.mark.parametrize(
    ("schema", "keys"),
    [
        ({"type": "array", "items": {"$ref": "#/$defs/Hour"}}, "[{hour, place: {name, at: {…}}}]"),
        ({"anyOf": [{"type": "null"}, {"properties": {"a": {}}}]}, "{a}"),
        ({"$ref": "#/$defs/Missing"}, ""),
        ({"$ref": "#/$defs/Endless"}, "{next: {next: {…}}}"),
        ({"type": "array", "items": {"type": "integer"}}, ""),
        ({"properties": {}}, ""),
        ({"$ref": "#/$defs/Itself"}, ""),
    ],
)
def test_the_keys_of_what_a_tool_returns_are_told(schema: dict[str, Any], keys: str) -> None:
    place = {"type": "object", "properties": {"name": {}, "at": {"properties": {"lat": {}, "lon": {}}}}}
    definitions = {
        "Hour": {"properties": {"hour": {"type": "integer"}, "place": place}},
        "Itself": {"items": {"$ref": "#/$defs/Itself"}, "anyOf": [{"$ref": "#/$defs/Itself"}] * 2},
        "Endless": {"properties": {"next": {"$ref": "#/$defs/Endless"}}},
    }
    assert returned_keys(schema, definitions) == keys


@pytest.mark.parametrize(
    ("schema", "columns"),
    [
        ({"type": "array", "items": {"$ref": "#/$defs/Hour"}}, ("hour",)),
        (
            {"type": "array", "items": {"properties": {"at": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}},
            ("at",),
        ),
        ({"type": "array", "items": {"properties": {"at": {"type": ["integer", "null"]}}}}, ("at",)),
        ({"type": "array", "items": {"properties": {"places": {"type": "array"}}}}, ()),
        ({"type": "array", "items": {"properties": {"place": {"type": "object"}}}}, ()),
        ({"type": "array", "items": {"properties": {"any": {}}}}, ()),
        ({"type": "array", "items": {"type": "string"}}, ()),
        ({"properties": {"hour": {"type": "integer"}}}, ()),
        ({}, ()),
    ],
)
def test_a_list_of_flat_objects_is_a_table(schema: dict[str, Any], columns: tuple[str, ...]) -> None:
    assert columns_of(schema, {"Hour": {"properties": {"hour": {"type": "integer"}}}}) == columns
    assert annotation_of(FRAME) == "DataFrame"
