"""One call of the model: build the request, receive the reply, read its program."""

from __future__ import annotations

from dataclasses import replace

from jupyter_codeagent.agent.dependencies import LoopDependencies
from jupyter_codeagent.agent.feedback import next_hint
from jupyter_codeagent.agent.known_imports import ALIASES
from jupyter_codeagent.agent.prompt.context_window import PREFILL_TOKENS, ContextWindow, fit_messages
from jupyter_codeagent.agent.prompt.system import STOP, STOP_PREFILLED, prefill
from jupyter_codeagent.agent.prompt.task import first_part
from jupyter_codeagent.agent.prompt.text_columns import conversions
from jupyter_codeagent.agent.reply.extract import NO_CODE, extract_code, is_program_complete
from jupyter_codeagent.agent.reply.grammar import grammar_after
from jupyter_codeagent.agent.reply.loops import is_looping, without_loop
from jupyter_codeagent.agent.reply.self_contained import make_self_contained
from jupyter_codeagent.agent.rules.registry import KEEP_VARIABLES, correct, with_own_variables
from jupyter_codeagent.agent.run_facts import (
    LOOPING,
    copied_names,
    database_names,
    failed_to_convert,
    function_names,
    joined_notes,
    program_of,
    repeats,
)
from jupyter_codeagent.notebook.outputs import deceiving_characters
from jupyter_codeagent.types.errors import ContextTooLongError
from jupyter_codeagent.types.messages import Completion, CompletionRequest, Message
from jupyter_codeagent.types.run import AgentRun, Step
from jupyter_codeagent.types.tagged_text import TaggedText

SAMPLING_TEMPERATURE = 0.7
"""For a model that repeats itself, and for all candidates but the first."""


async def begin_step(
    run: AgentRun, messages: tuple[Message, ...], deps: LoopDependencies, *, beginning: TaggedText | None = None
) -> Step:
    """Build the next step's messages and prefill, cut to the context window, and put them into the record."""
    if beginning is None:
        beginning = TaggedText()
    if deps.model.supports_prefill and not beginning:
        hint = await next_hint(run, messages, deps)
        part = "" if run.steps else first_part(run.request.prompt)
        converted = "" if failed_to_convert(run) else conversions(deps.text_columns, run.request.prompt)
        beginning = prefill(
            [*copied_names(run), *database_names(run)],
            functions=function_names(run),
            converted=converted,
            hint=hint,
            part=part,
        )
    window = context_window(run, deps)
    beyond = max(window.count(beginning.text) - PREFILL_TOKENS, 0) if window is not None else 0
    fitted = fit_messages(messages, run.request.prompt, window, deps.max_tokens + beyond)
    if window is not None and not fitted.fits:
        raise ContextTooLongError(
            f"The question has about {fitted.tokens} tokens, variables and earlier questions left out, and the "
            f"context of the model is {window.context_tokens}, the reply included: shorten the question."
        )
    step = Step(
        index=len(run.steps) + 1,
        messages=fitted.messages,
        prefill=beginning.text,
        prefill_spans=beginning.spans,
        left_out=fitted.note,
    )
    deps.watcher.changed(replace(run, steps=(*run.steps, step)))
    return step


def context_window(run: AgentRun, deps: LoopDependencies) -> ContextWindow | None:
    """Return the context window, calibrated with the server's latest token count."""
    window = deps.window
    counted = [
        step for step in run.steps if step.messages and step.usage.prompt_tokens and not step.usage.estimated
    ]
    if window is None or not counted:
        return window
    last = counted[-1]
    sent = (*last.messages, Message(role="assistant", content=last.prefill)) if last.prefill else last.messages
    return window.calibrated(sent, last.usage.prompt_tokens)


def completion_request(step: Step, deps: LoopDependencies) -> CompletionRequest:
    """Return the request of this step."""
    return CompletionRequest(
        messages=step.messages,
        prefill=step.prefill,
        prefill_spans=step.prefill_spans,
        stop=STOP_PREFILLED if step.prefill else STOP,
        max_tokens=deps.max_tokens,
        temperature=deps.temperature,
        seed=deps.seed,
    )


def is_enough(text: str) -> bool:
    """Check whether a reply that is still coming has its program: what follows belongs to none."""
    return is_program_complete(text) or is_looping(text)


async def complete(run: AgentRun, step: Step, deps: LoopDependencies) -> Completion:
    """Return the model's reply in this step; it is displayed while it comes."""
    watched = replace(run, steps=(*run.steps, step))
    deps.watcher.progress(watched, "model")
    grammar = grammar_after(run.steps[-1] if run.steps else None, prefilled=bool(step.prefill))
    temperature = max(deps.temperature, SAMPLING_TEMPERATURE) if repeats(run.steps) else deps.temperature
    return await deps.model.complete(
        replace(completion_request(step, deps), grammar=grammar, temperature=temperature),
        on_text=lambda text: deps.watcher.progress(watched, "model", text),
        is_complete=is_enough,
    )


def read_reply(run: AgentRun, step: Step, completion: Completion, deps: LoopDependencies) -> Step:
    """Return the step with its reply and code, prepared for the sandbox; with a note where there is no code."""
    step = replace(step, reply=without_loop(completion.text), usage=completion.usage)
    extraction = extract_code(step.reply.replace("\r\n", "\n"))
    if deceiving := deceiving_characters(extraction.code):
        return replace(step, note=f"the code holds characters that hide what it does: {', '.join(deceiving[:5])}")
    if is_looping(completion.text):
        return replace(step, note=LOOPING)
    if not extraction.code:
        return replace(step, note=extraction.problem or NO_CODE)
    whole = make_self_contained(extraction.code, (*deps.replaces, *run.steps), (*copied_names(run), *ALIASES))
    program = program_of(run, whole.code, deps)
    corrected = correct(program)
    freed = "the program stood in comments" if extraction.form == "comments" else ""
    note = joined_notes(freed, *extraction.notes, *whole.notes, *corrected.notes)
    kept = KEEP_VARIABLES in corrected.rules
    written = with_own_variables(program, extraction.code) if kept else extraction.code
    return replace(step, code=corrected.code, written=written, note=note, rules=corrected.rules)
