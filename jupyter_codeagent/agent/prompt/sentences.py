"""Where a sentence of a prompt ends."""

from __future__ import annotations

import re

SENTENCE_END = re.compile(r"(?<=[.?!;])\s+|\n+")
