"""An array from `.npy` bytes that may be hostile: not by `numpy.load`, which also reads archives and pickles."""

from __future__ import annotations

import io
import math
from typing import Any

from jupyter_codeagent.sandbox.data.rejection import rejecting_errors

INVALID = "An array from the sandbox is not valid"


def read_array(data: bytes) -> Any:
    """Read an array.

    Raises
    ------
    RejectedDataError
    """
    from numpy.lib import format as npy

    with rejecting_errors(INVALID):
        read_header(data)
        return npy.read_array(io.BytesIO(data), allow_pickle=False)


def read_header(data: bytes) -> tuple[tuple[int, ...], Any]:
    """Read shape and dtype, and check that the elements are just the bytes that follow.

    Raises
    ------
    RejectedDataError
    """
    from numpy.lib import format as npy

    with rejecting_errors(INVALID):
        file = io.BytesIO(data)
        version = npy.read_magic(file)
        # Version 3 differs from 2 in the encoding of field names alone, which do not matter here.
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file)
        size_bytes = len(data) - file.tell()
        if (
            dtype.itemsize == 0
            or any(side < 0 for side in shape)
            or math.prod(shape) * dtype.itemsize != size_bytes
        ):
            raise ValueError(f"shape {shape} of {dtype} does not fit {size_bytes:,} bytes")
        return shape, dtype
