"""The file of a report: it replaces nothing but an earlier report that nobody has changed, as a whole."""

from __future__ import annotations

import os
import re
import uuid
from pathlib import Path

from jupyter_codeagent.notebook.cells import sha256_of, without_surrogates
from jupyter_codeagent.types.errors import UsageError

SUFFIXES = (".html", ".md", ".qmd")
GENERATOR = "jupyter-codeagent report"
BLANK = "0" * 64
MARK = f"{GENERATOR} {BLANK}"
"""What a template writes near the top of the text; `with_digest` replaces the zeros."""
_MARK = re.compile(rf"{GENERATOR} (?P<digest>[0-9a-f]{{64}})")
_HEAD_CHARS = 4_000
"""Where the mark is looked for."""


def check_output(output: Path, *, overwrite: bool) -> None:
    """Check that a report may be written there.

    Raises
    ------
    UsageError
        Another kind of file, no such directory, or a file that is no unchanged report of ours.
    """
    if output.suffix not in SUFFIXES:
        raise UsageError(f"-o {output}: a report is a file ending in {', '.join(SUFFIXES)}, not {output.suffix!r}.")
    if not output.parent.is_dir():
        raise UsageError(f"-o {output}: there is no directory {str(output.parent)!r}; make it first.")
    if output.is_dir():
        raise UsageError(f"-o {output} is a directory; give the name of a file.")
    if os.path.lexists(output) and not overwrite and not _is_report(output):
        raise UsageError(
            f"{output} exists and is not a report, or was changed since: give another name, or use --overwrite."
        )


def with_digest(text: str) -> str:
    """Return the text with the digest of itself in its mark, by which a change is found."""
    text = without_surrogates(text)
    return text.replace(MARK, f"{GENERATOR} {sha256_of(text)}", 1)


def write_report(output: Path, text: str) -> None:
    """Write the whole file or nothing.

    Raises
    ------
    UsageError
        It cannot be written; what was there stays.
    """
    partial = output.with_name(f".{output.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        with partial.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, output)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror or error}.") from error
    finally:
        partial.unlink(missing_ok=True)


def _is_report(path: Path) -> bool:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    found = _MARK.search(text[:_HEAD_CHARS])
    if found is None:
        return False
    return found["digest"] == sha256_of(text.replace(found[0], MARK, 1))
