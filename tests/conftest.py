"""Fixtures that several kinds of tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from model_server import ModelServer, serving


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A scripted model behind a real HTTP server."""
    with serving() as server:
        yield server
