"""Copies of live variables, as files that sandboxes map. Exact, and written again only when a value has changed."""

from __future__ import annotations

import difflib
import hashlib
import itertools
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jupyter_codeagent.errors import VariableError
from jupyter_codeagent.transfer.files import holds_value, layout, write_value
from jupyter_codeagent.transfer.pickled import NotCopyableError, Pickled, TooLargeError, pickle_value
from jupyter_codeagent.values import CopiedVariable, Manifest, SkippedVariable

MIB = 1 << 20
HASH_BYTES = 16 * MIB


class Spool:
    """A directory of copies. `export` is called on the main thread, where nobody changes the values meanwhile."""

    def __init__(self, directory: Path, *, max_bytes: int) -> None:
        self.directory = directory
        self._max_bytes = max_bytes
        self._copies: dict[str, CopiedVariable] = {}
        self._versions = itertools.count(1)
        self._digests: dict[str, str] = {}

    def export(self, namespace: Mapping[str, Any], names: Sequence[str], *, required: bool) -> Manifest:
        """Copy these variables; together at most `max_bytes`.

        A file is never changed once it is written, because sandboxes map it: a changed value becomes a new file,
        with a higher version.

        Raises
        ------
        VariableError
            If `required`, for a name that is unknown, too large or cannot be copied; else such a name is skipped,
            with the reason in the manifest.
        """
        self._forget_deleted(namespace)
        copied: list[CopiedVariable] = []
        skipped: list[SkippedVariable] = []
        left = self._max_bytes
        for name in names:
            try:
                copy = self._copy(namespace, name, left)
            except VariableError as problem:
                if required:
                    raise
                skipped.append(SkippedVariable(name=name, reason=str(problem)))
            else:
                copied.append(copy)
                left -= copy.size_bytes
        return Manifest(copied=tuple(copied), skipped=tuple(skipped), modules=import_lines(namespace))

    def digest(self, manifest: Manifest) -> str:
        """SHA-256 over names and contents of the copies. From any thread; a gigabyte takes about a second."""
        whole = hashlib.sha256()
        for copy in sorted(manifest.copied, key=lambda copy: copy.name):
            whole.update(f"{copy.name}\0{copy.type_name}\0{self._file_digest(copy.file)}\n".encode())
        return whole.hexdigest()

    def close(self) -> None:
        """Remove the files; sandboxes that still map one keep their view."""
        for name in list(self._copies):
            self._remove(name)

    def _copy(self, namespace: Mapping[str, Any], name: str, left: int) -> CopiedVariable:
        if name not in namespace:
            raise VariableError(f"There is no variable {name!r}{_did_you_mean(name, namespace)}.")
        value = namespace[name]
        if isinstance(value, types.ModuleType):
            raise VariableError(f"{name!r} is a module; the sandbox imports it by itself.")
        try:
            pickled = pickle_value(value, max_bytes=left)
        except NotCopyableError as problem:
            raise VariableError(f"{name!r} cannot be copied: {problem}.") from problem
        except TooLargeError as problem:
            raise VariableError(self._too_large(name, left)) from problem
        known = self._copies.get(name)
        if known is not None and self._is_same(known, pickled):
            return known
        return self._write(name, value, pickled)

    def _is_same(self, known: CopiedVariable, pickled: Pickled) -> bool:
        return holds_value(self.directory / known.file, known.buffers, known.head, pickled)

    def _write(self, name: str, value: object, pickled: Pickled) -> CopiedVariable:
        version = next(self._versions)
        buffers, head = layout(pickled)
        copy = CopiedVariable(
            name=name,
            type_name=type(value).__name__,
            size_bytes=head[0] + head[1],
            file=f"{version}.pickle5",
            buffers=buffers,
            head=head,
            version=version,
        )
        self._remove(name)
        try:
            write_value(self.directory / copy.file, pickled)
        except OSError as problem:
            raise VariableError(
                f"{name!r} ({copy.size_bytes / MIB:,.0f} MiB) could not be copied to {self.directory.parent}: "
                f"{problem.strerror}. Make room there or pass a sample."
            ) from problem
        self._copies[name] = copy
        return copy

    def _forget_deleted(self, namespace: Mapping[str, Any]) -> None:
        for name in [name for name in self._copies if name not in namespace]:
            self._remove(name)

    def _remove(self, name: str) -> None:
        copy = self._copies.pop(name, None)
        if copy is not None:
            (self.directory / copy.file).unlink()
            self._digests.pop(copy.file, None)

    def _file_digest(self, file: str) -> str:
        known = self._digests.get(file)
        if known is None:
            sha256 = hashlib.sha256()
            with (self.directory / file).open("rb") as stream:
                while chunk := stream.read(HASH_BYTES):
                    sha256.update(chunk)
            known = self._digests[file] = sha256.hexdigest()
        return known

    def _too_large(self, name: str, left: int) -> str:
        others = (
            ""
            if left == self._max_bytes
            else f", {(self._max_bytes - left) / MIB:,.0f} MiB of them taken by others"
        )
        return (
            f"{name!r} is too large: copies of one run are limited to {self._max_bytes / MIB:,.0f} MiB{others}. "
            f"Name fewer variables with --vars, pass a sample, or raise c.CodeAgent.max_transfer_mb."
        )


def import_lines(namespace: Mapping[str, Any]) -> tuple[str, ...]:
    """What the user's module names stand for, as import lines: ``import pandas as pd``."""
    lines = []
    for name, value in sorted(namespace.items()):
        module = value.__name__ if isinstance(value, types.ModuleType) else ""
        if module and module != "__main__" and all(part.isidentifier() for part in module.split(".")):
            lines.append(f"import {module}" if name == module else f"import {module} as {name}")
    return tuple(lines)


def _did_you_mean(name: str, namespace: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, namespace, n=3)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
