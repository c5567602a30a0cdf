"""Build the feedback after a step: what its program did, what to do about it, where to continue.

Also the prefill of the next reply, where the last program is continued from the statement that failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_codeagent.agent.dependencies import LoopDependencies
from jupyter_codeagent.agent.output_text import output_text
from jupyter_codeagent.agent.prompt.conversation import as_written
from jupyter_codeagent.agent.prompt.hidden_columns import hidden_hint
from jupyter_codeagent.agent.prompt.observation import (
    SEARCHED_CHARS,
    Mask,
    calls_line,
    check_message,
    headline,
    hint_text,
    hint_without_values,
    issue_without_values,
    locate_error_in,
    no_code_message,
    observe,
    rejected_message,
    repair_message,
    without_values,
)
from jupyter_codeagent.agent.prompt.offered_words import missing_word_advice, words_offered
from jupyter_codeagent.agent.prompt.resuming import resume_at_choice, resume_at_error, resume_at_missing_name
from jupyter_codeagent.agent.prompt.system import correction, next_messages
from jupyter_codeagent.agent.reply.extract import extract_code
from jupyter_codeagent.agent.run_facts import WARNING, has_warning
from jupyter_codeagent.types.messages import Message
from jupyter_codeagent.types.run import AgentRun, Step
from jupyter_codeagent.types.tagged_text import TaggedText, join, tagged
from jupyter_codeagent.variables.privacy.masking import masked


async def with_feedback(run: AgentRun, step: Step, deps: LoopDependencies) -> tuple[Message, ...]:
    """Return the messages of the next call: the last reply, and what came of it."""
    feedback = await _feedback(run, step, deps)
    if hidden := hidden_columns_hint(step, deps.hidden_columns):
        feedback = join("\n", (tagged(hidden, "names"), feedback))
    return next_messages(step.messages, _reply_of(step) if step.code else step.reply, feedback)


async def next_hint(run: AgentRun, messages: Sequence[Message], deps: LoopDependencies) -> TaggedText:
    """Return what to do about the last step's error or suspicious result; empty if there is none."""
    step = run.steps[-1] if run.steps else None
    if step is None or step.result is None:
        return TaggedText()
    only_schema = run.request.privacy == "schema"
    if step.result.error is not None:
        if only_schema:
            return tagged(hint_without_values(step.result, _known(messages, step.code)), "error_kind")
        hint = hint_text(step.result)
        return tagged((await mask_for(hint, deps))(hint), "error")
    hint = step.note.removeprefix(WARNING) if has_warning(step) else ""
    if only_schema:
        return tagged(issue_without_values(hint, _known(messages, step.code)), "doubt")
    return tagged((await mask_for(hint, deps))(hint), "doubt")


async def resume_prefill(run: AgentRun, step: Step, deps: LoopDependencies) -> TaggedText | None:
    """Return the last reply up to where its program has to change; None where it has to be written anew.

    All of it is in the server's cache, and what was right need not be written again.
    """
    code, replied = written_code(step), extract_code(step.reply).code
    at = step.reply.find(replied) if replied else -1
    edited = step.decision is not None and step.decision.edited
    if not deps.model.supports_prefill or step.result is None or at < 0 or edited:
        return None
    head = step.reply[:at]
    if more := _resumed(run, step):
        return _if_it_fits(TaggedText(head + more), deps)
    error = locate_error_in(code, step.result, step.code).error
    place = resume_at_error(code, error) if error is not None else None
    if error is None or place is None or hidden_columns_hint(step, deps.hidden_columns):
        return None
    hint = await next_hint(run, step.messages, deps)
    if not hint and run.request.privacy != "schema":
        words = headline(error)
        hint = tagged((await mask_for(words, deps))(words), "error")
    done, begins = place
    return _if_it_fits(join("", (head, done, correction(hint), begins)), deps) if hint else None


def _if_it_fits(beginning: TaggedText, deps: LoopDependencies) -> TaggedText | None:
    """Return `beginning`, or None where it takes more than the half of the context window that is for messages."""
    window = deps.window
    fits = window is None or window.count(beginning.text) + deps.max_tokens <= window.context_tokens // 2
    return beginning if fits else None


def _resumed(run: AgentRun, step: Step) -> str:
    """Return the last program up to where a name or a choice was missing; empty where none was."""
    if step.result is None:
        return ""
    code = written_code(step)
    if (error := locate_error_in(code, step.result, step.code).error) is not None:
        return resume_at_missing_name(code, error, step.result.namespace)
    missing = missing_word_advice(run.request.prompt, output_text(step.result))
    return (
        resume_at_choice(code, words_offered(run.request.prompt))
        if missing and step.note == f"{WARNING}{missing}"
        else ""
    )


async def _feedback(run: AgentRun, step: Step, deps: LoopDependencies) -> TaggedText:
    """Return the feedback on the last step, without the hint that the next reply is prefilled with."""
    if step.result is None:
        rejected = step.decision is not None and step.decision.action == "reject"
        reason = step.decision.reason if step.decision is not None else ""
        return rejected_message(reason) if rejected else no_code_message(step.note)
    code = written_code(step)
    result, issue = locate_error_in(code, step.result, step.code), step.note.removeprefix(WARNING)
    if run.request.privacy == "schema":
        known = _known(step.messages, code)
        result, issue = without_values(result, known, code), issue_without_values(issue, known)
    mask = await mask_for(f"{observe(result, code, max_chars=SEARCHED_CHARS)}\n{calls_line(result)}", deps)
    hinted = deps.model.supports_prefill
    if result.status == "ok":
        return check_message(result, code, issue, mask=mask, hinted=hinted)
    return repair_message(result, code, mask=mask, hinted=hinted)


def _known(messages: Sequence[Message], code: str) -> str:
    """Return all text that the model has read or written."""
    return "\n".join((*(message.content for message in messages), code))


async def mask_for(text: str, deps: LoopDependencies) -> Mask:
    """Return a function that masks secrets, and the values of PII columns that occur in `text`."""
    values = await deps.masked_values(text)
    return lambda whole: masked(whole, values)


def hidden_columns_hint(step: Step, hidden_columns: Mapping[str, frozenset[str]]) -> str:
    """Return the hint on hidden columns that the step's code asked for; empty if there is none."""
    error = step.result.error if step.result is not None else None
    return hidden_hint(error, hidden_columns) if error is not None else ""


def _reply_of(step: Step) -> TaggedText:
    """Return the step's reply as the next messages contain it, tagged where a person has edited its code."""
    written = as_written(step.reply, written_code(step))
    edited = step.decision is not None and step.decision.edited
    return tagged(written, "edited_code") if edited else TaggedText(written)


def written_code(step: Step) -> str:
    """Return the code as the model wrote it, or as a person edited it.

    Unchanged code need not be read again by the server.
    """
    return step.written or extract_code(step.reply).code
