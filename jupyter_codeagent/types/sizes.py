"""Sizes and numbers of things as text."""

from __future__ import annotations


def format_bytes(size_bytes: int) -> str:
    """Return ``2 GiB``, ``48.5 MiB``, ``900 KiB`` or ``12 bytes``."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size_bytes >= unit:
            amount = size_bytes / unit
            return f"{amount:.3g} {name}" if amount < 999.5 else f"{amount:.0f} {name}"
    return counted(size_bytes, "byte")


def counted(number: int, word: str) -> str:
    """Return ``1 row`` or ``1,200 rows``."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def gigabytes(size_bytes: float) -> str:
    """Return ``1.8 GB`` or ``22 GB``: powers of ten, as weights and memory are sold."""
    amount = size_bytes / 1e9
    return f"{amount:.1f} GB" if amount < 9.95 else f"{amount:.0f} GB"
