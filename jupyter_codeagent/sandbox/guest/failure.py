"""The line of the executed cell that an exception came from."""

from __future__ import annotations

from types import TracebackType


def failed_line(error: BaseException, traceback: TracebackType | None, cells: str) -> int | None:
    """Return the line, from 1, of the executed cell: that of the deepest frame in it.

    Cells have file names that begin with `cells`; the first such frame is the executed cell. So a failing function
    of an earlier cell is reported at the line that called it. A syntax error of the cell has no frame.
    """
    frames = []
    while traceback is not None:
        frames.append((traceback.tb_frame.f_code.co_filename, traceback.tb_lineno))
        traceback = traceback.tb_next
    in_cells = [(name, line) for name, line in frames if name.startswith(cells)]
    if in_cells:
        return [line for name, line in in_cells if name == in_cells[0][0]][-1]
    if isinstance(error, SyntaxError) and str(error.filename).startswith(cells):
        return error.lineno
    return None
