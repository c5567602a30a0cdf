"""Build the feedback on a run of code: short, the beginning and the end, one line and one hint per error.

Long outputs drown a small model's context window; CodeAct uses 2,000 characters, a quarter of it is often enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from jupyter_codeagent.agent.output_text import cut, harmless, output_text
from jupyter_codeagent.agent.prompt.known_words import is_library_error, unknown_words, words_of
from jupyter_codeagent.agent.reply.extract import NO_CODE
from jupyter_codeagent.agent.rules.registry import find_hint
from jupyter_codeagent.types.messages import ContentKind
from jupyter_codeagent.types.sandbox import ExecutionError, ExecutionResult
from jupyter_codeagent.types.tagged_text import TaggedText, join, tagged

MAX_CHARS = 2000
MAX_OUTPUT_CHARS = 600
"""Limit for the output of a program to correct: its error is more useful, and the server has none of it cached."""
SEARCHED_CHARS = 4 * MAX_CHARS
"""Limit for the outputs in which PII is looked for."""
MAX_MESSAGE = 300
MAX_NAME = 80
MAX_CALLS = 5
NO_OUTPUT = "(no output)"
_WHOLE = "Reply with the whole corrected program."
_WRONG = "The result looks wrong."
NOT_DISCLOSED = "(not told)"
"""In place of an error's text, where values of the data may not be in the prompt."""

_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,.]*(?<=\d)(?:[eE][-+]?\d+)?%?")

Mask = Callable[[str], str]
"""Text of the data -> the same with stars in place of PII and secrets."""


def unmasked(text: str) -> str:
    """Return the text as it is, where it stays on this machine."""
    return text


def observe(result: ExecutionResult, code: str, *, max_chars: int = MAX_CHARS, mask: Mask = unmasked) -> str:
    """Return the outputs, then the error or the reason for the end.

    `code` is what ran, for the line of the error.
    """
    return observation(result, code, max_chars=max_chars, mask=mask).text


def observation(
    result: ExecutionResult, code: str, *, max_chars: int = MAX_CHARS, mask: Mask = unmasked, hinted: bool = False
) -> TaggedText:
    """Return the text of `observe`, tagged for a message."""
    # Cut twice: the rest of a number at the edges of the first cut must not get into the prompt.
    output = tagged(cut(mask(cut(output_text(result), max(max_chars, SEARCHED_CHARS))), max_chars), "output")
    end = tagged(mask(_end_text(result, code, hinted=hinted)), error_content(result))
    return join("\n", filter(None, (output, end))) or TaggedText(NO_OUTPUT)


def error_content(result: ExecutionResult) -> ContentKind:
    """Return whether the feedback has the text of the error, or only its kind and place."""
    is_whole = result.error is not None and not result.error.evalue.startswith(NOT_DISCLOSED)
    return "error" if is_whole else "error_kind"


def error_text(error: ExecutionError, code: str) -> str:
    """Format the error in one line, and its source line in another: ``KeyError at line 4: 'Revenu'``."""
    place = f" at line {error.line}" if error.line is not None else ""
    lines = code.split("\n")
    source = error.source or (lines[error.line - 1] if error.line and error.line <= len(lines) else "")
    source = harmless(source).strip().split("\n")[0][:160]
    source_line = f"\n    {source}" if source else ""
    return f"{headline(error, place)}{source_line}"


def headline(error: ExecutionError, place: str = "") -> str:
    """Format the error in one line, with its place after its name: ``KeyError: 'Revenu'``."""
    message = harmless(error.evalue).strip().split("\n")[0][:MAX_MESSAGE]
    return f"{harmless(error.ename).split(chr(10))[0][:MAX_NAME]}{place}: {message}"


def calls_line(result: ExecutionResult) -> str:
    """List the calls that the program made before it failed.

    The model must neither fear to repeat them nor think that they are undone.
    """
    failed = result.calls[-1].call if result.calls and result.calls[-1].status == "failed" else ""
    failure = f"The call that failed: {failed}\n" if failed else ""
    stopped = dict.fromkeys(call.call for call in result.calls if call.status == "stopped")
    failure += f"Ended before it had returned, perhaps done: {', '.join(stopped)}\n" if stopped else ""
    done = dict.fromkeys(call.call for call in result.calls if call.status == "ok")
    if not done:
        return failure
    listed = ", ".join(list(done)[:MAX_CALLS])
    more = f" and {len(done) - MAX_CALLS} more" if len(done) > MAX_CALLS else ""
    return f"{failure}Calls done: {listed}{more}. They are not made twice; the same call returns the same result.\n"


def locate_error_in(known: str, result: ExecutionResult, ran: str) -> ExecutionResult:
    """Return the result with the error's line in `known`, the program as the model knows it, if it has it."""
    error = result.error
    if error is None or error.line is None or known == ran:
        return result
    lines = ran.split("\n")
    source = error.source or (lines[error.line - 1] if error.line <= len(lines) else "")
    at = [number for number, line in enumerate(known.split("\n"), start=1) if line.strip() == source.strip()]
    return replace(result, error=replace(error, line=at[0] if len(at) == 1 else None, source=source))


def repair_message(
    result: ExecutionResult, code: str, *, mask: Mask = unmasked, hinted: bool = False
) -> TaggedText:
    """Return the user message after code that failed.

    `hinted`: the reply is prefilled with the hint on the error.
    """
    seen = observation(result, code, max_chars=MAX_OUTPUT_CHARS, mask=mask, hinted=hinted)
    return join("\n", (seen, tagged(mask(calls_line(result)), "calls"), _WHOLE))


def check_message(
    result: ExecutionResult, code: str, issue: str, *, mask: Mask = unmasked, hinted: bool = False
) -> TaggedText:
    """Return the user message after code that ran but whose result looks wrong.

    `issue` is the text of an `Issue`. `hinted`: the reply is prefilled with it.
    """
    seen = observation(result, code, max_chars=MAX_OUTPUT_CHARS, mask=mask)
    warning = tagged(_WRONG if hinted else mask(issue), "doubt")
    return join("\n", (seen, "", warning, _WHOLE))


def without_values(result: ExecutionResult, known: str, code: str) -> ExecutionResult:
    """Reduce a result to what the prompt may have where the data may not be in it.

    That is the kind and place of an error, and our hint; no output. `known` is all that the model has read or
    written so far, `code` the program as it knows it. A name in the hint has to be in `known`: columns that the
    code has made, by a pivot for example, are values of the data. Code can give an error any name and line, so
    only those that exist are kept.
    """
    if result.error is None:
        return replace(result, outputs=(), namespace=(), calls=())
    error = result.error
    is_there = error.line is not None and 1 <= error.line <= len(code.split("\n"))
    reduced = replace(
        error,
        ename=error.ename if is_library_error(error.ename) else "Error",
        evalue=f"{NOT_DISCLOSED} {hint_without_values(result, known)}".strip(),
        line=error.line if is_there else None,
        source="",
    )
    return replace(result, outputs=(), error=reduced, namespace=(), calls=())


def hint_without_values(result: ExecutionResult, known: str) -> str:
    """Return the hint for the error if all its words are known; else empty."""
    if result.error is None:
        return ""
    words = words_of(known)
    namespace = tuple(
        replace(entry, columns=tuple(column for column in entry.columns if words_of(column) <= words))
        for entry in result.namespace
        if entry.name in words
    )
    hint = hint_text(replace(result, namespace=namespace))
    return "" if unknown_words(hint, known) else hint


def issue_without_values(issue: str, known: str) -> str:
    """Return the text of an issue without numbers and words that are not known."""
    numbers = frozenset(_NUMBER.findall(known))
    text = _NUMBER.sub(lambda match: match.group() if match.group() in numbers else NOT_DISCLOSED, issue)
    for word in dict.fromkeys(unknown_words(text, known)):
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", "it", text)
    return text


def no_code_message(problem: str) -> TaggedText:
    """Return the user message after a reply without usable code.

    `problem` is that of the `Extraction`.
    """
    asked = f"{problem[:MAX_MESSAGE]}. Reply with exactly one ```python block that does the task."
    return TaggedText(f"{asked} If it cannot be done, say in one sentence why." if problem == NO_CODE else asked)


def rejected_message(reason: str) -> TaggedText:
    """Return the user message after a person rejected the code with a reason."""
    why = tagged(reason.strip()[:MAX_MESSAGE], "reason")
    return join("", ("The user rejected this code: ", why, f"\n{_WHOLE}"))


def _end_text(result: ExecutionResult, code: str, *, hinted: bool) -> str:
    if result.error is not None:
        hint = "" if hinted else hint_text(result)
        return error_text(result.error, code) + (f"\nHint: {hint}" if hint else "")
    if result.status == "timeout":
        return f"Stopped: {result.reason or 'time limit reached'}. Do it with less work: no Python loops over rows."
    if result.status == "killed":
        return f"Killed: {result.reason or 'a limit was exceeded'}. Earlier results are gone; use less memory."
    if result.status != "ok":
        return f"{result.status.capitalize()}: {result.reason or 'no further result'}."
    return ""


def hint_text(result: ExecutionResult) -> str:
    """Return what to do about a program's error; empty if no rule knows."""
    hint = find_hint(result)
    return hint.text if hint is not None else ""
