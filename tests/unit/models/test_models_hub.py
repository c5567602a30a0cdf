"""The hub as source, with its own client against a server of ours; each fetch in a process, as the client reads
its endpoint at import."""

from __future__ import annotations

import hashlib
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_weights import Hub, SmallWeights, fetching, hub_serving, make_weights, offline_environment

from jupyter_codeagent.models.embedded.hub import bytes_in, download_from_hub
from jupyter_codeagent.types.errors import WeightsError


@pytest.fixture
def small(tmp_path: Path) -> SmallWeights:
    return make_weights(tmp_path / "index")


@pytest.fixture
def hub(small: SmallWeights) -> Iterator[Hub]:
    with hub_serving(small.content, small.published.sha256) as serving:
        yield serving


def fetch(small: SmallWeights, tmp_path: Path, endpoint: str, **environment: str) -> tuple[str, Path]:
    """What was said, and the file."""
    online = {**offline_environment(small, tmp_path), "HF_HUB_OFFLINE": "0", "HF_ENDPOINT": endpoint}
    process = fetching(small, {**online, "HF_HOME": str(tmp_path / "hf"), **environment})
    said, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return said, tmp_path / "cache" / "jupyter-codeagent" / "weights" / "small.gguf"


def test_the_hub_is_asked_first(small: SmallWeights, hub: Hub, tmp_path: Path) -> None:
    said, path = fetch(small, tmp_path, hub.url)

    assert "was downloaded from the Hugging Face hub" in said
    assert path.read_bytes() == small.content
    assert not path.with_name(".small.gguf.partial").exists()
    assert any(request.startswith("GET /somebody/small-GGUF/resolve/main/small.gguf") for request in hub.requests)


def test_a_hub_that_is_switched_off_is_not_asked(small: SmallWeights, hub: Hub, tmp_path: Path) -> None:
    said, path = fetch(small, tmp_path, hub.url, HF_HUB_OFFLINE="1")

    assert "Not from the Hugging Face hub: HF_HUB_OFFLINE is set." in said
    assert path.read_bytes() == small.content
    assert hub.requests == []


def test_another_file_on_the_hub_is_not_downloaded(small: SmallWeights, tmp_path: Path) -> None:
    other = small.content[::-1]
    with hub_serving(other, hashlib.sha256(other).hexdigest()) as hub:
        said, path = fetch(small, tmp_path, hub.url)

    assert "the hub has another file" in said
    assert path.read_bytes() == small.content
    assert not [request for request in hub.requests if request.startswith("GET /somebody")]


def test_a_hub_that_lies_about_its_file_is_an_error(small: SmallWeights, tmp_path: Path) -> None:
    with hub_serving(small.content[::-1], small.published.sha256) as hub:
        environment = {**offline_environment(small, tmp_path), "HF_HUB_OFFLINE": "0", "HF_ENDPOINT": hub.url}
        process = fetching(small, environment)
        _, errors = process.communicate(timeout=60)

    assert process.returncode != 0
    assert "The download from the Hugging Face hub is not the expected file" in errors
    assert not list((tmp_path / "cache").rglob("*.gguf"))


@pytest.mark.long("waits ten seconds for what never comes")
def test_an_unreachable_hub_costs_seconds(small: SmallWeights, tmp_path: Path) -> None:
    with socket.socket() as silent:  # accepts connections and never answers
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        began = time.monotonic()
        said, path = fetch(small, tmp_path, f"http://127.0.0.1:{silent.getsockname()[1]}")

    assert "Not from the Hugging Face hub" in said
    assert path.read_bytes() == small.content
    assert time.monotonic() - began < 60


def test_a_hub_set_offline_after_the_import_is_honoured(
    small: SmallWeights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "yes")

    with pytest.raises(WeightsError, match="HF_HUB_OFFLINE is set"):
        download_from_hub(small.published, tmp_path, lambda _: None)


def test_the_bytes_of_a_directory_are_those_of_all_its_files(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "one").write_bytes(b"12")
    (tmp_path / "deep" / "two").write_bytes(b"345")
    os.symlink("nowhere", tmp_path / "broken")

    assert bytes_in(tmp_path) == 5
