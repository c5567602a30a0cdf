"""A kernel for each test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kernel_client import Kernel, running_kernel
from model_server import ModelServer


@pytest.fixture
def kernel(tmp_path: Path, model_server: ModelServer) -> Iterator[Kernel]:
    """With the scripted model as its server."""
    environment = {"CODEAGENT_BASE_URL": model_server.url, "CODEAGENT_API_KEY": "secret-key-of-the-user"}
    with running_kernel(tmp_path, environment) as running:
        yield running
