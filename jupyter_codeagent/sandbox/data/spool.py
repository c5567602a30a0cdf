"""Copies of live variables, as files that sandboxes map: exact, and written again only when a value has changed."""

from __future__ import annotations

import difflib
import hashlib
import itertools
import types
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jupyter_codeagent.sandbox.data.files import Image, ImageWriter, read_extent, remove_files
from jupyter_codeagent.sandbox.data.limits import estimated_bytes, format_too_large
from jupyter_codeagent.sandbox.data.pickling import NotCopyableError, Refusal, TooLargeError, pickle_value
from jupyter_codeagent.types.errors import VariableError
from jupyter_codeagent.types.variables import CopiedVariable, Manifest, SkippedVariable

MIB = 1 << 20


class Spool:
    """A directory of copies. `export` is called on the main thread, where nobody changes the values meanwhile."""

    def __init__(self, directory: Path, *, max_bytes: int) -> None:
        self.directory = directory
        self.max_bytes = max_bytes
        """Limit of one export, all variables together; the administrator may change it at any time."""
        self._copies: dict[str, CopiedVariable] = {}
        self._images: dict[str, Image] = {}
        self._versions = itertools.count(1)
        self._numbers = itertools.count(1)
        self._digests: dict[int, str] = {}
        """By version."""

    def export(
        self,
        namespace: Mapping[str, Any],
        names: Sequence[str],
        *,
        required: bool,
        refusal: Callable[[object, object], str] | None = None,
    ) -> Manifest:
        """Copy these variables; together at most `max_bytes`.

        `refusal(value, part)` returns why the copy of a value must not contain an object; empty if it may.

        A file is never changed once it is written, because sandboxes map it: changed parts of a value become new
        files, and the copy gets a higher version.

        Raises
        ------
        VariableError
            If `required`, for a name that is unknown, too large or cannot be copied. Otherwise such a name is
            skipped, with the reason in the manifest.
        """
        self._forget_deleted(namespace)
        copied: list[CopiedVariable] = []
        skipped: list[SkippedVariable] = []
        left = self.max_bytes
        for name in names:
            try:
                copy = self._copy(namespace, name, left, refusal)
            except VariableError as problem:
                if required:
                    raise
                skipped.append(SkippedVariable(name=name, reason=str(problem)))
            else:
                copied.append(copy)
                left -= copy.size_bytes
        return Manifest(copied=tuple(copied), skipped=tuple(skipped), modules=import_lines(namespace))

    def write(self, name: str, value: Any, max_bytes: int) -> CopiedVariable:
        """Write a copy of a value that no variable holds; the caller removes it with `discard`. Main thread.

        Raises
        ------
        VariableError
            If it is too large or cannot be copied.
        """
        image = self._image(name, value, Image(), max_bytes)
        return self._described(name, value, image)

    def discard(self, copy: CopiedVariable) -> None:
        """Remove a copy that `write` wrote; sandboxes that have loaded it keep it."""
        remove_files(self.directory, {file for file, _, _ in copy.files})

    def digest(self, manifest: Manifest) -> str:
        """Return a SHA-256 over names and contents of the copies. Any thread; a gigabyte takes about a second."""
        whole = hashlib.sha256()
        for copy in sorted(manifest.copied, key=lambda copy: copy.name):
            whole.update(f"{copy.name}\0{copy.type_name}\0{self._copy_digest(copy)}\n".encode())
            for file in copy.reads:  # not their contents: they may be far larger than what is ever read
                whole.update(f"{file.path}\0{file.inode}\0{file.size_bytes}\0{file.modified_ns}\n".encode())
        return whole.hexdigest()

    def close(self) -> None:
        """Remove all files; sandboxes that still map one keep their view of it."""
        for name in list(self._copies):
            self._remove(name)

    def _copy(
        self,
        namespace: Mapping[str, Any],
        name: str,
        left: int,
        refusal: Callable[[object, object], str] | None,
    ) -> CopiedVariable:
        if name not in namespace:
            raise VariableError(f"There is no variable {name!r}{_did_you_mean(name, namespace)}.")
        value = namespace[name]
        if isinstance(value, types.ModuleType):
            raise VariableError(f"{name!r} is a module, which the sandbox imports itself: leave it out.")
        known = self._images.get(name, Image())
        try:
            of_value = None if refusal is None else partial(refusal, value)
            image = self._image(name, value, known, left, of_value)
        except BaseException:
            self._remove(name)
            raise
        self._images[name] = image
        if image.files != known.files:
            old = self._copies.get(name)
            if old is not None:
                self._digests.pop(old.version, None)
            self._copies[name] = self._described(name, value, image)
        return self._copies[name]

    def _image(self, name: str, value: Any, known: Image, left: int, refusal: Refusal | None = None) -> Image:
        """Write an image; on an error remove its files and those of `known`, and raise VariableError."""
        writer = ImageWriter(self.directory, known, lambda: f"{next(self._numbers)}.piece")
        try:
            return writer.finish(pickle_value(value, writer, max_bytes=left, refusal=refusal))
        except BaseException as problem:
            writer.discard()
            if isinstance(problem, NotCopyableError):
                raise VariableError(f"{name!r} cannot be copied: {problem}.") from problem
            if isinstance(problem, TooLargeError):
                raise VariableError(self._format_too_large(name, value, left)) from problem
            if isinstance(problem, OSError):
                raise VariableError(self._format_no_space(name, writer.size_bytes, problem)) from problem
            raise

    def _described(self, name: str, value: Any, image: Image) -> CopiedVariable:
        return CopiedVariable(
            name=name,
            type_name=type(value).__name__,
            size_bytes=image.size_bytes,
            files=image.files,
            buffers=image.buffers,
            head=image.head,
            version=next(self._versions),
        )

    def _forget_deleted(self, namespace: Mapping[str, Any]) -> None:
        for name in [name for name in self._copies if name not in namespace]:
            self._remove(name)

    def _remove(self, name: str) -> None:
        """Remove the copy of a variable, if there is one."""
        copy = self._copies.pop(name, None)
        if copy is not None:
            del self._images[name]
            self._digests.pop(copy.version, None)
            remove_files(self.directory, {file for file, _, _ in copy.files})

    def _copy_digest(self, copy: CopiedVariable) -> str:
        """Return a hash of the bytes, independent of how they are cut into pieces."""
        known = self._digests.get(copy.version)
        if known is None:
            sha256 = hashlib.sha256()
            for extent in (copy.head, *copy.buffers):
                sha256.update(f"{extent[1]}\n".encode())
                for chunk in read_extent(self.directory, copy.files, extent):
                    sha256.update(chunk)
            known = self._digests[copy.version] = sha256.hexdigest()
        return known

    def _format_no_space(self, name: str, size_bytes: int, problem: OSError) -> str:
        return (
            f"{name!r} ({size_bytes / MIB:,.0f} MiB) could not be copied to {self.directory.parent}: "
            f"{problem.strerror}. Free some space there or pass a sample."
        )

    def _format_too_large(self, name: str, value: Any, left: int) -> str:
        return format_too_large(
            name,
            value,
            size_bytes=estimated_bytes(value),
            limit_bytes=self.max_bytes,
            taken_bytes=self.max_bytes - left,
        )


def import_lines(namespace: Mapping[str, Any]) -> tuple[str, ...]:
    """Return import lines for the modules among the user's variables: ``import pandas as pd``."""
    lines = []
    for name, value in sorted(namespace.items()):
        module = value.__name__ if isinstance(value, types.ModuleType) else ""
        if module and module != "__main__" and all(part.isidentifier() for part in module.split(".")):
            lines.append(f"import {module}" if name == module else f"import {module} as {name}")
    return tuple(lines)


def _did_you_mean(name: str, namespace: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, namespace, n=3)
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
