"""The weights from the Hugging Face hub: one file by repository, name and revision."""

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
"""For the one small request that tells whether the hub can be reached at all."""
REPORT_EVERY_S = 0.3


def download_from_hub(weights: PublishedWeights, directory: Path, report: Callable[[int], None]) -> Path:
    """The file, not verified yet; what a stopped download left in `directory` is continued.

    Raises
    ------
    WeightsError
        The hub is unreachable, switched off (``HF_HUB_OFFLINE``) or offers another file under this name.
    OSError
        It could not be written.
    """
    try:
        import huggingface_hub as hub
        from huggingface_hub.constants import HF_HUB_OFFLINE
    except ModuleNotFoundError as error:
        raise WeightsError("huggingface_hub is not installed") from error
    # The constant is from the time of import; a notebook may have set the variable since.
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
        # Which classes come out depends on the hub's version and its HTTP library. A full disk is told apart
        # by its number; everything else means: not from here, try the next source.
        if isinstance(error, OSError) and error.errno is not None and error.filename is not None:
            raise
        raise WeightsError(_one_line(error)) from error


def _check_published_digest(weights: PublishedWeights) -> None:
    """One small request, so that neither an unreachable hub nor another file costs a gigabyte or minutes."""
    import huggingface_hub as hub

    url = hub.hf_hub_url(weights.repository, weights.file, revision=weights.revision)
    etag = hub.get_hf_file_metadata(url, timeout=REACH_TIMEOUT_S).etag or ""
    if len(etag) == len(weights.sha256) and etag != weights.sha256:
        raise WeightsError(f"the hub offers another file (SHA-256 {etag[:12]}…, expected {weights.sha256[:12]}…)")


@contextmanager
def _progress_reported(directory: Path, report: Callable[[int], None]) -> Iterator[None]:
    """Reports what lies in the directory while the download runs in the caller's thread, so that Ctrl-C works."""
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
    """One bar is enough: ours, which also covers the other source."""
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
    """Bytes of all files below; one that vanishes meanwhile counts nothing."""
    total = 0
    for file in directory.rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except OSError:
            continue
    return total


def _one_line(error: Exception) -> str:
    return shorten(printable_line(str(error)) or type(error).__name__, MAX_DISPLAY_CHARS)
