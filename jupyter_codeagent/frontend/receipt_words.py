"""The texts of a receipt, and the rule which of its notes need attention, as data."""

from __future__ import annotations

import re

from jupyter_codeagent.types.messages import ContentKind, ModelCallPurpose
from jupyter_codeagent.types.run import RunStatus, VerdictLevel

STATUS: dict[RunStatus, str] = {
    "ok": "✓",
    "failed": "✗ Failed",
    "stopped": "■ Stopped by you",
    "rejected": "■ Rejected by you",
    "interrupted": "■ Interrupted",
    "running": "…",
    "waiting": "…",
}
VERDICTS: dict[VerdictLevel, str] = {"checked": "Rows checked", "look": "Worth a look", "doubtful": "Doubtful"}
NOT_APPROVED = "✗ Not approved"
"""Rejected, as nobody was there to approve it."""

IN_LINE: dict[ContentKind, str] = {
    "names": "names and types",
    "statistics": "statistics",
    "rows": "sample rows",
    "functions": "functions",
    "house_rules": "house rules",
    "earlier_code": "earlier code",
    "earlier_results": "earlier results",
    "output": "output",
    "error": "error",
    "error_kind": "type of error",
    "doubt": "warning",
    "calls": "calls",
    "reason": "your reason",
    "edited_code": "your code",
    "texts": "texts",
}
"""Texts for what was sent beside the question."""
EARLIER = f"{IN_LINE['earlier_code']}, {IN_LINE['earlier_results']}"
EARLIER_IN_SHORT = "earlier code + results"
IN_DETAIL: dict[ContentKind, str] = {
    "names": "names and types of variables",
    "statistics": "statistics and values of variables",
    "rows": "sample rows",
    "functions": "signatures and descriptions of your functions",
    "house_rules": "your house rules",
    "earlier_code": "earlier questions with their code",
    "earlier_results": "results of earlier questions",
    "output": "what the code printed and displayed",
    "error": "the error of the code",
    "error_kind": "type and location of the error, without its message",
    "doubt": "what looked wrong with the result",
    "calls": "calls that the code had made",
    "reason": "your reason for rejecting it",
    "edited_code": "your edited code",
    "texts": "the texts that ask_model was given",
}
PURPOSES: dict[ModelCallPurpose, str] = {
    "program": "for a program",
    "text": "by ask_model",
    "count": "to count tokens",
}

STRONG_SANDBOXES = ("bubblewrap", "namespaces", "seatbelt", "container")
"""Levels on this machine that hide files and processes; any other is displayed outside of the details."""
SERVER_OF = ", server of "
"""Part of the label of a server that another account of this machine runs."""
NOT_ISOLATED = "NOT ISOLATED"
NOT_RUN = "No cells were inserted. Cells queued after this one were not run."
"""Front ends drop the cells queued behind one that failed, without a message."""

QUIET_NOTES = tuple(
    re.compile(pattern)
    for pattern in (
        r"the last value is shown",
        r"the result is \S+, as asked",
        r"results are shown with their names",
        r"(?:added: )?(?:import|from) [^;]*",
        r"line \d+ dropped: \w+ is (?:loaded already|your function)",
        r"works on (?:a copy|\w+): \w+ stays as it is",
        r"line \d+: \{…\} is filled in \(f-string\)",
        r"the program stood in comments",
        r"replayed from the record",
        r"went back to “.{0,50}”",
        r"its cells are already in the notebook",
        r"(\d{1,4}) of \1 candidates found this result",
        r"\d{1,4} of \d{1,4} candidates found this result; \d{1,4} not run, the vote was decided",
        r"candidate \d+ (?:of|again)[^;]*",
        r"called [^();]*",
        r"ask_model: [^;]*",
        r"not called again, results as recorded: [^;]*",
        r"house rules: \d{1,3} lines? of CODEAGENT\.md [^;]*",
    )
)
"""Notes that go to the details: the result is what the user would expect without them. All others are displayed,
new ones as well: a program that was rewritten or joined, numbers of a sample, what was dropped, a warning."""
