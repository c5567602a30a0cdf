"""Records as dicts and back, and what is told of their keys."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, TypedDict

import pandas as pd
import pydantic
import pytest

from jupyter_codeagent.tools.object_fields import fields_of, folded, keys_text, unfolded
from jupyter_codeagent.tools.tool import stub_line, tool_of


class Status(enum.Enum):
    PENDING = "pending"


class Item(pydantic.BaseModel):
    name: str
    price: float


class Order(pydantic.BaseModel):
    id: str
    status: Status
    items: list[Item]


@dataclasses.dataclass
class Place:
    city: str
    zip: str = ""


@dataclasses.dataclass
class Person:
    name: str
    home: Place | None
    orders: dict[str, Order] = dataclasses.field(default_factory=dict)


class Row(TypedDict):
    day: str
    place: Place


ORDER = Order(id="7", status=Status.PENDING, items=[Item(name="cup", price=2.5)])
ORDER_DICT = {"id": "7", "status": "pending", "items": [{"name": "cup", "price": 2.5}]}


def test_records_come_as_dicts_all_the_way_down() -> None:
    person = Person("Ada", Place("London"), {"a": ORDER})
    plain = {"name": "Ada", "home": {"city": "London", "zip": ""}, "orders": {"a": ORDER_DICT}}
    assert unfolded(person) == plain
    assert unfolded([(ORDER, 1), Place]) == [(ORDER_DICT, 1), Place]  # the class itself is no record


@pytest.mark.parametrize("value", [3, "x", None, [1, (2, {"a": pd.DataFrame()})]], ids=repr)
def test_what_holds_no_record_stays_the_same_object(value: Any) -> None:
    assert unfolded(value) is value


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        (Order, "{id, status, items: [{name, price}]}"),
        (list[Order], "[{id, status, items: [{name, price}]}]"),
        (dict[str, Place], "{key: {city, zip}}"),
        (Row | None, "{day, place: {city, zip}}"),
        (Person, "{name, home: {city, zip}, orders: {key: {id, status, items: [{…}]}}}"),
        (list[int], ""),
        (pd.DataFrame, ""),
        (None, ""),
    ],
)
def test_the_keys_of_what_a_function_returns_are_told(hint: Any, told: str) -> None:
    assert keys_text(hint) == told


def test_a_class_whose_fields_name_what_is_not_there_still_tells_its_keys() -> None:
    made = dataclasses.make_dataclass("made", [("x", "Missing"), ("y", "int")])
    assert fields_of(made) == {"x": Any, "y": Any}
    assert keys_text(made) == "{x, y}"


def test_dicts_become_the_records_that_the_annotation_wants() -> None:
    assert folded(ORDER_DICT, Order) == ORDER
    assert folded([{"city": "Rome"}], list[Place]) == [Place("Rome")]
    assert folded({"name": "B", "home": {"city": "Rome"}}, Person) == Person("B", Place("Rome"))
    assert folded({"city": "Rome"}, Place | None) == Place("Rome")
    assert folded({"city": "Rome"}, Place | dict) == {"city": "Rome"}, "a dict is what it wants, too"
    assert folded({"a": 1}, dict[str, int]) == {"a": 1}
    assert folded({"day": "x"}, Row) == {"day": "x"}
    with pytest.raises(ValueError, match="price"):
        folded({"name": "cup"}, Item)
    with pytest.raises(TypeError, match="town"):
        folded({"town": "Rome"}, Place)


def test_a_stub_speaks_of_dicts_and_tells_their_keys() -> None:
    def ship(order: Order, places: list[Place]) -> Person:
        """Ship it."""
        raise NotImplementedError

    stub = tool_of(ship).stub
    assert stub.signature == "(order: dict, places: list[dict]) -> dict"
    keys = "{name, home: {city, zip}, orders: {key: {id, status, items: [{…}]}}}"
    assert stub_line(stub, "all").endswith(f"# Ship it. Returns {keys}")
