"""The loop: ask the model, have the code decided, run it in the sandbox, show the model what came of it.

Knows only protocols and text; does no I/O of its own.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Protocol

from jupyter_codeagent.agent.answer.answer import (
    MAX_ANSWER_TOKENS,
    answer_messages,
    check_answer,
    is_told_whole,
    made_up,
    speaks_for_itself,
)
from jupyter_codeagent.agent.prompt.context_window import PREFILL_TOKENS, ContextWindow, fit
from jupyter_codeagent.agent.prompt.conversation import Turn, as_written, compact
from jupyter_codeagent.agent.prompt.hidden_columns import hidden_hint
from jupyter_codeagent.agent.prompt.hints import hint_for
from jupyter_codeagent.agent.prompt.observe import (
    SEARCHED_CHARS,
    Mask,
    calls_line,
    check_message,
    concern_without_values,
    headline,
    hint_without_values,
    in_lines_of,
    no_code_message,
    observation,
    observe,
    output_text,
    rejected_message,
    repair_message,
    without_values,
)
from jupyter_codeagent.agent.prompt.offered_words import none_shown, words_offered
from jupyter_codeagent.agent.prompt.resuming import at_the_error, choosing, resumed
from jupyter_codeagent.agent.prompt.system import (
    STOP,
    STOP_PREFILLED,
    correction,
    first_messages,
    next_messages,
    prefill,
)
from jupyter_codeagent.agent.prompt.task import first_part, wanted_names
from jupyter_codeagent.agent.reply.extract import NO_CODE, extract_code, is_program_complete
from jupyter_codeagent.agent.reply.grammar import grammar_after
from jupyter_codeagent.agent.reply.loops import is_looping, without_loop
from jupyter_codeagent.agent.reply.own_words import own_words, words_instead
from jupyter_codeagent.agent.reply.self_contained import stand_alone
from jupyter_codeagent.agent.rules.broadcast import write_to_rows
from jupyter_codeagent.agent.rules.checks import CHECK_THE_FILTER, concern
from jupyter_codeagent.agent.rules.imports import ALIASES
from jupyter_codeagent.agent.rules.label_rows import name_rows
from jupyter_codeagent.agent.rules.named_results import NOTE, name_results
from jupyter_codeagent.agent.rules.repair import repair, repair_missing
from jupyter_codeagent.agent.rules.rewrite import Prepared, prepare
from jupyter_codeagent.agent.rules.value_matching import (
    WrittenOtherwise,
    look_afterwards,
    look_on_the_way,
    not_personal,
    nothing_matches,
    values_found,
    with_values,
)
from jupyter_codeagent.models.protocol import Model
from jupyter_codeagent.notebook.outputs import deceiving_characters
from jupyter_codeagent.notebook.outputs.interactive import INTERACTIVE_MIME
from jupyter_codeagent.sandbox.protocol import CodeRunner
from jupyter_codeagent.types.approvals import Decision, Grant, Proposal
from jupyter_codeagent.types.errors import ContextTooLongError
from jupyter_codeagent.types.messages import Completion, CompletionRequest, Message
from jupyter_codeagent.types.run import AgentRun, Phase, RunStatus, Step
from jupyter_codeagent.types.sandbox import ExecutionResult, Output
from jupyter_codeagent.types.tagged_text import TaggedText, join, tagged
from jupyter_codeagent.variables.privacy.masking import masked

Decide = Callable[[Proposal], Awaitable[Decision]]
IMAGES = {"image/png", "image/jpeg", "image/svg+xml"}
DOUBT = "the result looks wrong: "
CIRCLED = "the reply repeated one passage without end and was stopped; write shorter lines"
SAMPLING_TEMPERATURE = 0.7
"""For a model that repeats itself, and for all candidates but the first."""
MAX_REPAIRS = 5
"""Certain corrections of one program, one after the other; each costs a run."""
FILTERED_ERRORS = frozenset({"KeyError", "IndexError", "ValueError", "ZeroDivisionError"})
"""What code runs into where a filter has left nothing."""
WHY_CHARS = 300
CONVERSATION_CHARS = 6000
"""Earlier turns that are told again, at the most; about a fifth of the embedded model's context."""


class RunWatcher(Protocol):
    """Told of everything that happens in a run: writes history, updates the panel and the cell."""

    def changed(self, run: AgentRun) -> None:
        """The record changed; called before and after each step."""
        ...

    def progress(self, run: AgentRun, phase: Phase, text: str = "") -> None:
        """Something moved; `text` is the reply of this step so far. Called often, must be cheap."""
        ...


async def nothing_withheld(_text: str) -> tuple[str, ...]:
    """For runs that have no live variables."""
    return ()


@dataclass(frozen=True, kw_only=True)
class LoopDependencies:
    """What the loop works with."""

    model: Model
    runner: CodeRunner
    decide: Decide
    watcher: RunWatcher
    defined: Callable[[], Collection[str]]
    """Names the sandbox knows."""
    max_tokens: int = 1024
    temperature: float = 0.0
    seed: int = 0
    answer: bool = True
    corrects: bool = True
    """Whether code is run once more where a correction of it is certain."""
    withheld: Callable[[str], Awaitable[Sequence[str]]] = nothing_withheld
    """Those values of personal columns that stand in a text; they are masked in what the model is told."""
    undo_attempt: Callable[[], None] = lambda: None
    """Before each execution: what an attempt that is not kept did to the copies is undone."""
    hidden_columns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Variable -> labels that the user hides; told of only where code asks for one of them."""
    incomplete: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Variable -> `repr()` of its columns with missing values, of pandas frames."""
    room: ContextWindow | None = None
    """The model's context; None where there is no limit to keep to."""
    replaces: tuple[Step, ...] = ()
    """The program of which another version is asked for: its cell goes, so that nothing of it may be missing."""


async def run_agent(run: AgentRun, turns: Sequence[Turn], tools: LoopDependencies) -> AgentRun:
    """Steps until code gave a result, or a person or a limit stopped it; returns the ended run.

    A result that looks wrong (empty, all missing, nothing shown) goes back to the model once; the next stands.
    A model that answers in words is asked once for code or the reason; words again end the run, and are shown.
    Where the model repeats the same code to the same failure or doubt, it is asked once more from the beginning and
    at a higher temperature; a second repetition ends the run. A reply that went round in a circle is asked for anew
    in the same way.

    Raises
    ------
    ModelError, SandboxError
        The record as far as it came was reported to the watcher. ContextTooLongError also where the question alone
        does not fit; nothing was sent then.
    """
    return await go_on(run, await _step(run, conversation(run, turns), tools), tools)


async def go_on(run: AgentRun, step: Step, tools: LoopDependencies) -> AgentRun:
    """From the first step, as it ended, to the end of the run; see `run_agent`."""
    for calls in range(1, run.request.max_steps + 1):
        doubted = any(has_doubt(earlier) for earlier in run.steps)
        run = replace(run, steps=(*run.steps, step))
        tools.watcher.changed(run)
        if step.decision is not None and (refusal := _refusal(step.decision)):
            return ended(run, "rejected", refusal)
        if step.result is not None and step.result.status == "ok" and _stands(run, step, doubted=doubted):
            return await finish(run, step, tools, calls=calls)
        if words := words_instead(run.steps):
            return ended(run, "failed", f"The model wrote no code. {await _said(words, tools)}")
        if _repetitions(run.steps) > 1:
            return await _failed(run, tools, f"The model repeated itself after {calls} steps.")
        if calls == run.request.max_steps:
            break
        if _repeats(run.steps):
            step = await _step(run, run.steps[0].messages, tools)
        elif begun := await _begun(run, step, tools):
            step = await _step(run, step.messages, tools, begun=begun)
        else:
            step = await _step(run, await _answered(run, step, tools), tools)
    limit = run.request.max_steps
    return await _failed(run, tools, f"No working code within {limit} step{'s' if limit > 1 else ''}.")


async def _failed(run: AgentRun, tools: LoopDependencies, why: str) -> AgentRun:
    """The end of a run without a result; what a doubt went back for and came again is one, and so is what the last
    step shows: with the doubt."""
    last = run.steps[-1]
    if has_doubt(last) and last.result is not None and output_text(last.result).strip():
        return await finish(run, last, tools, calls=run.request.max_steps)
    repeated = [after for before, after in pairwise(run.steps) if _is_same(before, after) and has_doubt(after)]
    if repeated:
        step = await _run_again(run, repeated[-1], tools)
        if step.result is not None and step.result.status == "ok":
            return await finish(run, step, tools, calls=run.request.max_steps)
    if words := own_words(last):
        return ended(run, "failed", f"{why} {await _said(words, tools)}")
    return ended(run, "failed", f"{why} {_problem(last, tools.hidden_columns)}")


async def _said(words: str, tools: LoopDependencies) -> str:
    """The model's own words for the error line, masked as what is sent to it: the line stays in the notebook."""
    return f"The model says: “{(await _mask(words, tools))(words)}”"


def conversation(run: AgentRun, turns: Sequence[Turn]) -> tuple[Message, ...]:
    """The messages of the run's first call."""
    context = TaggedText(run.context, run.context_spans)
    return first_messages(context, run.request.prompt, compact(turns, CONVERSATION_CHARS))


def has_doubt(step: Step) -> bool:
    """Whether it ran, and its result looks wrong."""
    return step.note.startswith(DOUBT)


async def _answered(run: AgentRun, step: Step, tools: LoopDependencies) -> tuple[Message, ...]:
    """With the last reply and what is said to it."""
    feedback = await _feedback(run, step, tools)
    if hidden := _hidden(step, tools.hidden_columns):
        feedback = join("\n", (tagged(hidden, "names"), feedback))
    return next_messages(step.messages, _told_reply(step) if step.code else step.reply, feedback)


async def _step(
    run: AgentRun, messages: tuple[Message, ...], tools: LoopDependencies, *, begun: TaggedText | None = None
) -> Step:
    """One call of the model and, if it wrote code, its way through gate and sandbox."""
    started = time.monotonic()
    step = await begin_step(run, messages, tools, begun=begun)
    step = read_reply(run, step, await complete(run, step, tools), tools)
    if step.code:
        step = await execute(run, step, tools)
    return replace(step, duration_s=time.monotonic() - started)


async def begin_step(
    run: AgentRun, messages: tuple[Message, ...], tools: LoopDependencies, *, begun: TaggedText | None = None
) -> Step:
    """What is about to be sent, as far as the model's context has room; the record has it from now on."""
    if begun is None:
        begun = TaggedText()
    if tools.model.supports_prefill and not begun:
        hint = await _hint(run, messages, tools)
        part = "" if run.steps else first_part(run.request.prompt)
        begun = prefill(_copied(run), functions=_functions(run), hint=hint, part=part)
    room = _room(run, tools)
    beyond = max(room.count(begun.text) - PREFILL_TOKENS, 0) if room is not None else 0
    fitted = fit(messages, run.request.prompt, room, tools.max_tokens + beyond)
    if room is not None and not fitted.fits:
        raise ContextTooLongError(
            f"The question has about {fitted.tokens} tokens, variables and earlier questions left out, and the "
            f"context of the model is {room.context_tokens}, the reply included: shorten the question."
        )
    step = Step(
        index=len(run.steps) + 1,
        messages=fitted.messages,
        prefill=begun.text,
        prefill_spans=begun.spans,
        left_out=fitted.note,
    )
    tools.watcher.changed(replace(run, steps=(*run.steps, step)))
    return step


def _room(run: AgentRun, tools: LoopDependencies) -> ContextWindow | None:
    """With what the server has counted last."""
    room = tools.room
    counted = [
        step for step in run.steps if step.messages and step.usage.prompt_tokens and not step.usage.estimated
    ]
    if room is None or not counted:
        return room
    last = counted[-1]
    sent = (*last.messages, Message(role="assistant", content=last.prefill)) if last.prefill else last.messages
    return room.learned(sent, last.usage.prompt_tokens)


def completion_request(step: Step, tools: LoopDependencies) -> CompletionRequest:
    """What the model is asked in this step."""
    return CompletionRequest(
        messages=step.messages,
        prefill=step.prefill,
        prefill_spans=step.prefill_spans,
        stop=STOP_PREFILLED if step.prefill else STOP,
        max_tokens=tools.max_tokens,
        temperature=tools.temperature,
        seed=tools.seed,
    )


def is_enough(text: str) -> bool:
    """Of a reply so far: whatever comes after it belongs to no program."""
    return is_program_complete(text) or is_looping(text)


async def complete(run: AgentRun, step: Step, tools: LoopDependencies) -> Completion:
    """The reply of this step, shown while it comes."""
    watched = replace(run, steps=(*run.steps, step))
    tools.watcher.progress(watched, "model")
    grammar = grammar_after(run.steps[-1] if run.steps else None, prefilled=bool(step.prefill))
    temperature = max(tools.temperature, SAMPLING_TEMPERATURE) if _repeats(run.steps) else tools.temperature
    return await tools.model.complete(
        replace(completion_request(step, tools), grammar=grammar, temperature=temperature),
        on_text=lambda text: tools.watcher.progress(watched, "model", text),
        is_complete=is_enough,
    )


def read_reply(run: AgentRun, step: Step, completion: Completion, tools: LoopDependencies) -> Step:
    """The step with the code that its reply holds, prepared for the sandbox; with a note where it holds none."""
    step = replace(step, reply=without_loop(completion.text), usage=completion.usage)
    extraction = extract_code(step.reply.replace("\r\n", "\n"))
    if deceiving := deceiving_characters(extraction.code):
        return replace(step, note=f"the code holds characters that hide what it does: {', '.join(deceiving[:5])}")
    if is_looping(completion.text):
        return replace(step, note=CIRCLED)
    if not extraction.code:
        return replace(step, note=extraction.problem or NO_CODE)
    whole = stand_alone(extraction.code, (*tools.replaces, *run.steps), (*_copied(run), *ALIASES))
    prepared = prepare(
        whole.code,
        copied=_copied(run),
        defined=tools.defined(),
        prompt=run.request.prompt,
        in_parts=bool(first_part(run.request.prompt)),
        asked=wanted_names(run.request.prompt),
        functions=_functions(run),
        incomplete=tools.incomplete,
    )
    freed = "the program stood in comments" if extraction.form == "comments" else ""
    note = _joined(freed, *extraction.notes, *whole.notes, *prepared.notes)
    return replace(step, code=prepared.code, written=extraction.code, note=note)


def _functions(run: AgentRun) -> list[str]:
    return [stub.name for stub in run.manifest.tools if stub.policy != "deny"]


def _copied(run: AgentRun) -> list[str]:
    return [variable.name for variable in run.manifest.copied]


async def execute(run: AgentRun, step: Step, tools: LoopDependencies) -> Step:
    """Have the code decided if it is not, run it; where corrections of it are certain, run it with them."""
    done = await _execute(run, step, run.steps, tools)
    return await _execute_repaired(run, done, step.note, tools) if tools.corrects else done


async def _execute(run: AgentRun, step: Step, attempts: Sequence[Step], tools: LoopDependencies) -> Step:
    if step.decision is None:
        step = await decide_code(run, step, attempts, tools)
    if step.decision is None or step.decision.action == "reject":
        return step
    running = replace(run, status="running", steps=(*run.steps, step))
    tools.watcher.changed(running)
    tools.watcher.progress(running, "sandbox", step.code)
    tools.undo_attempt()
    result = await tools.runner.execute(step.code, timeout_s=run.request.timeout_s)
    doubt = concern(result, step.code, run.request.prompt)
    return replace(step, result=result, note=f"{DOUBT}{doubt}" if doubt else step.note)


async def decide_code(
    run: AgentRun, step: Step, attempts: Sequence[Step], tools: LoopDependencies, *, note: str = ""
) -> Step:
    """`attempts` came before in this run; the last may be of the same step, before it was repaired."""
    proposal = Proposal(
        id=uuid.uuid4().hex[:12],
        run_id=run.id,
        kind="run",
        code=step.code,
        note=note,
        step=step.index,
        why=_why(attempts),
        previous_code=next((earlier.code for earlier in reversed(attempts) if earlier.code), ""),
        lasting=(Grant(kind="run"),),
    )
    if run.request.approve == "ask":
        waiting = replace(run, status="waiting", steps=(*run.steps, step))
        tools.watcher.changed(waiting)
        tools.watcher.progress(waiting, "waiting", step.code)
    decision = await tools.decide(proposal)
    written = decision.code if decision.edited else step.written
    return replace(step, decision=decision, code=decision.code, written=written)


def _why(attempts: Sequence[Step]) -> str:
    """What led to another attempt: for the person who decides, not for the model."""
    if not attempts:
        return ""
    last = attempts[-1]
    if last.decision is not None and last.decision.action == "reject":
        return f"You said no to the attempt before: {last.decision.reason}"
    if last.result is not None and last.result.error is not None:
        evalue = last.result.error.evalue.split("\n")[0][:WHY_CHARS]
        return f"The attempt before failed: {last.result.error.ename}: {evalue}"
    if last.result is not None and last.result.status != "ok":
        return f"The attempt before did not end well: {last.result.reason or last.result.status}"
    return f"Of the attempt before: {last.note}" if last.note else ""


async def _execute_repaired(run: AgentRun, step: Step, note: str, tools: LoopDependencies) -> Step:
    """Certain corrections cost further runs instead of a further call of the model; `note` is that of the code.

    What does not end well after all of them counts as the step was before.
    """
    latest = step
    for _ in range(MAX_REPAIRS):
        if latest.result is None:
            break
        repaired, unmatched = await _repaired(run, latest, latest.result, tools)
        if repaired is None:
            if unmatched and has_doubt(step):
                step = replace(step, note=f"{step.note.removesuffix(CHECK_THE_FILTER).rstrip()} {unmatched}")
            break
        note = _joined(note, *repaired.notes)
        corrected = replace(latest, code=repaired.code, note=note, decision=None, result=None)
        again = await _execute(run, corrected, (*run.steps, replace(latest, note="")), tools)
        again = replace(again, written=step.written)  # also where a person has edited the correction
        refused = again.decision is not None and again.decision.action == "reject"
        named = NOTE in repaired.notes and again.result is not None and again.result.status == "ok"
        if refused or named or _is_fine(again):
            return again
        same = _failure(again.result) == _failure(latest.result)
        latest = again
        if same:
            break
    if latest is not step and step.result is not None and step.result.status == "ok":
        return await _run_again(run, step, tools)
    return step


async def _run_again(run: AgentRun, step: Step, tools: LoopDependencies) -> Step:
    """Another attempt ran after it, and what is kept is what lies in the sandbox."""
    tools.undo_attempt()
    return replace(step, result=await tools.runner.execute(step.code, timeout_s=run.request.timeout_s))


def _is_fine(step: Step) -> bool:
    return step.result is not None and step.result.status == "ok" and not has_doubt(step)


async def _repaired(
    run: AgentRun, step: Step, result: ExecutionResult, tools: LoopDependencies
) -> tuple[Prepared | None, str]:
    """The corrected code with what was corrected, None where nothing is certain; and which filters left nothing."""
    error, doubted = result.error, has_doubt(step)
    if error is not None and (found := repair(step.code, error, result.namespace)) is not None:
        return found, ""
    if doubted:
        text = output_text(result)
        found = repair_missing(step.code) or name_rows(run.request.prompt, text, step.code, result.namespace)
        if found is not None:
            return found, ""
    if result.status == "ok" and (found := write_to_rows(step.code, result.namespace)) is not None:
        return found, ""
    if result.status == "ok" and run.request.approve != "ask":  # nobody is asked once more for the sake of names
        found = name_results(step.code, run.request.prompt, result.namespace, tools.defined())
        if found is not None:
            return found, ""
    if run.request.privacy == "schema" or (error is None and result.status != "ok"):
        return None, ""  # a value would stand in the code, which the model is told
    seen: tuple[WrittenOtherwise, ...] = ()
    if result.status == "ok" and (look := look_afterwards(step.code)):
        seen = await _values_found(look, run, tools)
    found = with_values(step.code, seen)
    filtered = doubted or (error is not None and error.ename in FILTERED_ERRORS)
    if found is None and filtered and (look := look_on_the_way(step.code)):
        tools.undo_attempt()
        seen = await _values_found(look, run, tools)
        found = with_values(step.code, seen)
    return found, nothing_matches(seen)


async def _values_found(look: str, run: AgentRun, tools: LoopDependencies) -> tuple[WrittenOtherwise, ...]:
    """What a program that looks at columns has found, without people."""
    seen = values_found(await tools.runner.execute(look, timeout_s=run.request.timeout_s))
    return not_personal(seen, await tools.withheld("\n".join(value for one in seen for value in one.found)))


def _refusal(decision: Decision) -> str:
    """Why the run ends here; empty if it goes on. A person's no with a reason is a wish for other code."""
    if decision.action != "reject":
        return ""
    if decision.decided_by == "nobody":
        return f"The code was not run: {decision.reason}."
    return "" if decision.reason else "You rejected the code; no cells were inserted."


async def _hint(run: AgentRun, messages: Sequence[Message], tools: LoopDependencies) -> TaggedText:
    """What to do about the error of the step before, or about its result that looks wrong; else empty."""
    step = run.steps[-1] if run.steps else None
    if step is None or step.result is None:
        return TaggedText()
    only_schema = run.request.privacy == "schema"
    if step.result.error is not None:
        if only_schema:
            return tagged(hint_without_values(step.result, _known(messages, step.code)), "error_kind")
        hint = hint_for(step.result.error, step.result.namespace)
        return tagged((await _mask(hint, tools))(hint), "error")
    hint = step.note.removeprefix(DOUBT) if has_doubt(step) else ""
    if only_schema:
        return tagged(concern_without_values(hint, _known(messages, step.code)), "doubt")
    return tagged((await _mask(hint, tools))(hint), "doubt")


async def _begun(run: AgentRun, step: Step, tools: LoopDependencies) -> TaggedText | None:
    """The last reply up to where its program is to go on otherwise; None where it has to be written anew.

    All of it is in the server's cache, and what was right need not be written again.
    """
    code = _told_code(step)
    at = step.reply.find(code) if code else -1
    edited = step.decision is not None and step.decision.edited
    if not tools.model.supports_prefill or step.result is None or at < 0 or edited:
        return None
    head = step.reply[:at]
    if more := _resumed(run, step):
        return _if_room(TaggedText(head + more), tools)
    error = in_lines_of(code, step.result, step.code).error
    place = at_the_error(code, error) if error is not None else None
    if error is None or place is None or _hidden(step, tools.hidden_columns):
        return None
    hint = await _hint(run, step.messages, tools)
    if not hint and run.request.privacy != "schema":
        words = headline(error)
        hint = tagged((await _mask(words, tools))(words), "error")
    done, begins = place
    return _if_room(join("", (head, done, correction(hint), begins)), tools) if hint else None


def _if_room(begun: TaggedText, tools: LoopDependencies) -> TaggedText | None:
    """None where it would take the half of the model's context that is for the messages."""
    room = tools.room
    fits = room is None or room.count(begun.text) + tools.max_tokens <= room.context_tokens // 2
    return begun if fits else None


def _resumed(run: AgentRun, step: Step) -> str:
    """The program of the step before, up to where a name or a choice was missing; empty where it lacked no step."""
    if step.result is None:
        return ""
    code = _told_code(step)
    if (error := in_lines_of(code, step.result, step.code).error) is not None:
        return resumed(code, error, step.result.namespace)
    missing = none_shown(run.request.prompt, output_text(step.result))
    return choosing(code, words_offered(run.request.prompt)) if missing and step.note == f"{DOUBT}{missing}" else ""


async def _feedback(run: AgentRun, step: Step, tools: LoopDependencies) -> TaggedText:
    """What is said to the last step; not once more what the next reply is begun with."""
    if step.result is None:
        rejected = step.decision is not None and step.decision.action == "reject"
        reason = step.decision.reason if step.decision is not None else ""
        return rejected_message(reason) if rejected else no_code_message(step.note)
    code = _told_code(step)
    result, doubt = in_lines_of(code, step.result, step.code), step.note.removeprefix(DOUBT)
    if run.request.privacy == "schema":
        known = _known(step.messages, code)
        result, doubt = without_values(result, known, code), concern_without_values(doubt, known)
    mask = await _mask(f"{observe(result, code, max_chars=SEARCHED_CHARS)}\n{calls_line(result)}", tools)
    hinted = tools.model.supports_prefill
    if result.status == "ok":
        return check_message(result, code, doubt, mask=mask, hinted=hinted)
    return repair_message(result, code, mask=mask, hinted=hinted)


def _known(messages: Sequence[Message], code: str) -> str:
    """All that the model has read or written."""
    return "\n".join((*(message.content for message in messages), code))


async def _mask(text: str, tools: LoopDependencies) -> Mask:
    """Hides what looks private, and those values of personal columns that stand in the text."""
    values = await tools.withheld(text)
    return lambda told: masked(told, values)


def _hidden(step: Step, hidden_columns: Mapping[str, frozenset[str]]) -> str:
    error = step.result.error if step.result is not None else None
    return hidden_hint(error, hidden_columns) if error is not None else ""


def _problem(step: Step, hidden_columns: Mapping[str, frozenset[str]]) -> str:
    """The end of the error line: what was wrong at last."""
    if step.result is None:
        return f"Last: {step.note}."
    if step.result.reason:  # cut short or killed: the exception that came of it says less
        return f"Last: {step.result.reason}"
    if step.result.error is not None:
        first = step.result.error.evalue.split("\n")[0][:200]
        hidden = _hidden(step, hidden_columns)
        return f"Last error: {step.result.error.ename}: {first}" + (f" ({hidden})" if hidden else "")
    return f"Last: {step.note}"


def _repeats(steps: Sequence[Step]) -> bool:
    """At temperature 0 the same would come again: the same code came to the same end twice in a row, or the last
    reply went round in a circle."""
    return bool(steps) and (steps[-1].note == CIRCLED or (len(steps) > 1 and _is_same(steps[-2], steps[-1])))


def _stands(run: AgentRun, step: Step, *, doubted: bool) -> bool:
    """Whether what ran is the result: it looks right, or a doubt went back before. The same program as the one that
    was doubted is asked for once more, as after a failure."""
    if not has_doubt(step):
        return True
    again = _repeats(run.steps) and _repetitions(run.steps) == 1 and len(run.steps) < run.request.max_steps
    return doubted and not again


def _repetitions(steps: Sequence[Step]) -> int:
    """How often the model has repeated itself in this run."""
    return sum(_is_same(before, after) for before, after in pairwise(steps))


def _is_same(before: Step, after: Step) -> bool:
    return before.code.strip() == after.code.strip() and _failure(before.result) == _failure(after.result)


def _failure(result: ExecutionResult | None) -> tuple[str, str]:
    if result is None:
        return ("", "")
    return (result.error.ename, result.error.evalue) if result.error is not None else (result.status, result.reason)


async def finish(run: AgentRun, step: Step, tools: LoopDependencies, *, calls: int) -> AgentRun:
    """The run has its result, after so many calls of the model; one sentence if one is left and allowed."""
    assert step.result is not None
    notes = [note for note in (step.note, *step.result.notes) if note]
    run = replace(
        run, code=step.code, written=step.written, outputs=step.result.outputs, notes=(*run.notes, *notes)
    )
    told = run.request.privacy != "schema"  # a sentence needs the result, which is made of the data
    wants_words = shows_text(run.outputs) and not speaks_for_itself(run.outputs, run.request.prompt)
    if tools.answer and told and wants_words and calls < run.request.max_steps:
        run = await _answer(run, step, tools)
    return ended(run, "ok")


def shows_text(outputs: Sequence[Output]) -> bool:
    """Whether there is anything a sentence could rest on: of a plot alone a text model can only invent."""
    return any(
        output["output_type"] == "stream"
        or (output["output_type"] in ("display_data", "execute_result") and not _is_picture(output["data"]))
        for output in outputs
    )


def _is_picture(data: Mapping[str, Any]) -> bool:
    kind = data.get(INTERACTIVE_MIME, {}).get("kind", "html")
    return bool(IMAGES & data.keys()) or kind != "html"


async def _answer(run: AgentRun, step: Step, tools: LoopDependencies) -> AgentRun:
    assert step.result is not None
    outputs = output_text(step.result)
    mask = await _mask(observe(step.result, step.code, max_chars=SEARCHED_CHARS), tools)
    seen = observation(step.result, step.code, mask=mask)
    if not is_told_whole(seen.text):
        return run
    messages = answer_messages(step.messages, _told_reply(step), seen)
    fitted = fit(messages, run.request.prompt, _room(run, tools), MAX_ANSWER_TOKENS)
    if not fitted.fits:
        return replace(run, notes=(*run.notes, "no sentence was asked for: the model's context has no room for it"))
    tools.watcher.progress(run, "answer")
    completion = await tools.model.complete(
        CompletionRequest(
            messages=fitted.messages,
            purpose="sentence",
            max_tokens=MAX_ANSWER_TOKENS,
            seed=tools.seed,
        ),
        on_text=lambda text: tools.watcher.progress(run, "answer", text),
        is_complete=lambda _: False,
    )
    answer = check_answer(completion.text, outputs, run.request.prompt, step.code)
    run = replace(run, answer=answer)
    if not answer and (invented := made_up(completion.text, outputs, run.request.prompt, step.code)):
        note = f"the model's sentence was dropped: {', '.join(invented[:3])} is not in the output"
        run = replace(run, notes=(*run.notes, note))
    return run


def _told_reply(step: Step) -> TaggedText:
    written = as_written(step.reply, _told_code(step))
    edited = step.decision is not None and step.decision.edited
    return tagged(written, "edited_code") if edited else TaggedText(written)


def _told_code(step: Step) -> str:
    """As the model wrote it, so that the server need not read it again; a person's where one has changed it."""
    return step.written or extract_code(step.reply).code


def _joined(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def ended(run: AgentRun, status: RunStatus, error: str = "") -> AgentRun:
    """With a note for each step that had to be asked with less than there was to tell."""
    left_out = (f"step {step.index}: {step.left_out}" for step in run.steps if step.left_out)
    notes = tuple(dict.fromkeys((*run.notes, *left_out)))
    return replace(run, status=status, error=error, notes=notes, ended_at=time.time())
