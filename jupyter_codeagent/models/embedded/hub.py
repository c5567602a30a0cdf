"""Download of weights from the Hugging Face hub: one file by repository, name and revision."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from jupyter_codeagent.models.embedded.catalogue import PublishedWeights
from jupyter_codeagent.models.parsing import MAX_DISPLAY_CHARS, printable_line, shorten
from jupyter_codeagent.types.errors import WeightsError

REACH_TIMEOUT_S = 4.0
"""Time limit of the small request that checks whether the hub is reachable."""
REPORT_EVERY_S = 0.3


def download_from_hub(weights: PublishedWeights, directory: Path, report: Callable[[int], None]) -> Path:
    """Download the file and return its path, not verified yet; a stopped download in `directory` is continued.

    Raises
    ------
    WeightsError
        The hub is unreachable, disabled (``HF_HUB_OFFLINE``) or has another file under this name.
    OSError
        The file could not be written.
    """
    try:
        import huggingface_hub as hub
        from huggingface_hub.constants import HF_HUB_OFFLINE
    except ModuleNotFoundError as error:
        raise WeightsError("huggingface_hub is not installed") from error
    # The constant has the value at import time; a notebook may have set the variable since.
    if HF_HUB_OFFLINE or os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise WeightsError("HF_HUB_OFFLINE is set")
    try:
        _check_published_digest(weights)
        with _progress_reported(directory, report), _without_progress_bars():
            return Path(
                hub.hf_hub_download(
                    repo_id=weights.repository,
                    filename=weights.file,
                    revision=weights.revision,
                    local_dir=directory,
                    etag_timeout=REACH_TIMEOUT_S,
                )
            )
    except WeightsError:
        raise
    except Exception as error:
        # The exception classes depend on the hub's version and its HTTP library. A full disk is recognised by its
        # number; all other errors mean: try the next source.
        if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
            raise
        raise WeightsError(_one_line(error)) from error


def _check_published_digest(weights: PublishedWeights) -> None:
    """Check the file's digest by one small request, so that a wrong file or an unreachable hub costs no minutes."""
    import huggingface_hub as hub

    url = hub.hf_hub_url(weights.repository, weights.file, revision=weights.revision)
    etag = hub.get_hf_file_metadata(url, timeout=REACH_TIMEOUT_S).etag or ""
    if len(etag) == len(weights.sha256) and etag != weights.sha256:
        raise WeightsError(f"the hub has another file (SHA-256 {etag[:12]}…, expected {weights.sha256[:12]}…)")


@contextmanager
def _progress_reported(directory: Path, report: Callable[[int], None]) -> Iterator[None]:
    """Report the bytes in the directory while the block downloads in the caller's thread, so that Ctrl-C works."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(REPORT_EVERY_S):
            report(bytes_in(directory))

    thread = threading.Thread(target=watch, daemon=True, name="codeagent-hub-progress")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def _without_progress_bars() -> Iterator[None]:
    """Disable the hub's progress bars; our own bar covers both sources."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    if are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()


def bytes_in(directory: Path) -> int:
    """Return the size of all files below the directory; one that vanishes meanwhile counts nothing."""
    total = 0
    for file in directory.rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except OSError:
            continue
    return total


def _one_line(error: Exception) -> str:
    return shorten(printable_line(str(error)) or type(error).__name__, MAX_DISPLAY_CHARS)
