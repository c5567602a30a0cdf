"""The pattern for the end of a sentence in a prompt."""

from __future__ import annotations

import re

SENTENCE_END = re.compile(r"(?<=[.?!;])\s+|\n+")
