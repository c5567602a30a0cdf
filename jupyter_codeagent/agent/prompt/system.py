"""The first messages of a run and the prefill of the reply.

The order `[system][earlier turns][user: house rules, variables and task]` and the static bytes of the system prompt
keep the server's prefix cache useful: later messages of a run are only ever appended. House rules are in the last
message only, so a change of them leaves the earlier ones as they were; there they change least and come first.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_codeagent.agent.output_text import harmless
from jupyter_codeagent.agent.prompt.conversation import Turn, turn_messages
from jupyter_codeagent.agent.prompt.task import task_text
from jupyter_codeagent.types.charts import CHART_LIBRARIES, ChartLibrary
from jupyter_codeagent.types.messages import Message
from jupyter_codeagent.types.tagged_text import TaggedText, join, kinds_of, message, tagged

SYSTEM_PROMPT = """\
You are a data analyst in a Jupyter notebook. Reply with one short sentence, then exactly one ```python block.
- The listed variables exist already: use them by name. Never load, re-create or re-type data.
- Use column names exactly as listed. Copy a frame before changing it.
- Print only the numbers that were asked for, or end with the expression to show.
- Plots: matplotlib, with title and axis labels.
- No network, no files, no pip install.
"""

STOP = ("\nObservation:", "<|im_start|>")
"""Stop at an invented next turn, but not at an invented output: larger models continue with the next block."""

STOP_PREFILLED = ("\n```", "\nOutput:", *STOP)
"""Only with a prefilled fence; without one, the reply would stop at the opening fence."""

MAX_PREFILL_NAMES = 6
MAX_HINT_CHARS = 300


def system_prompt(charts: ChartLibrary) -> str:
    """Return the system prompt for charts of this library: the model is told of one library, not of two."""
    return SYSTEM_PROMPT.replace(CHART_LIBRARIES[0], charts)


def first_messages(
    context: TaggedText,
    prompt: str,
    history: Sequence[Turn] = (),
    *,
    house_rules: str = "",
    charts: ChartLibrary = CHART_LIBRARIES[0],
) -> tuple[Message, ...]:
    """Return the messages of a run's first call.

    `context` has the lines on variables; it is empty if there are none, as are `house_rules`.
    """
    earlier, lead = turn_messages(history)
    rules = _section("House rules", tagged(house_rules, "house_rules"))
    variables = _section("Variables", context)
    return (
        message("system", system_prompt(charts)),
        *earlier,
        message("user", join("", (lead, rules, variables, task_text(prompt)))),
    )


def _section(title: str, lines: TaggedText) -> TaggedText:
    return join("", (f"{title}:\n", lines.stripped(), "\n\n")) if lines.text.strip() else TaggedText()


def next_messages(messages: Sequence[Message], reply: TaggedText | str, text: TaggedText) -> tuple[Message, ...]:
    """Append the model's reply and our next user message."""
    answered = reply if isinstance(reply, TaggedText) else TaggedText(reply)
    return (*messages, message("assistant", answered.stripped()), message("user", text))


def prefill(
    names: Sequence[str] = (),
    *,
    functions: Sequence[str] = (),
    converted: str = "",
    hint: TaggedText = TaggedText(),  # noqa: B008 - immutable
    part: str = "",
) -> TaggedText:
    """Return the prefill for models that continue a reply: the fence and a line that lists what exists.

    With this line the embedded model solved 11 of 14 questions instead of 6 in one call each: it keeps the
    model from reading a file that is not there. With corrections and further calls it gains nothing on DABench
    (docs/evals.md). After a failure, `hint` (see `feedback.next_hint`) makes another line; without it a small
    model at temperature 0 writes the same code again. `part` is the first part of a task that has several, as a
    comment. `functions` are those that may be called: 10 of 25 questions right at the first try instead of 7.
    """
    listed = [name for name in names if name.isidentifier()][:MAX_PREFILL_NAMES]
    verb = "is" if len(listed) == 1 else "are"
    loaded = tagged(f"# {', '.join(listed)} {verb} already loaded\n" if listed else "", "names")
    called = functions[:MAX_PREFILL_NAMES]
    verb = "is" if len(called) == 1 else "are"
    defined = tagged(f"# {', '.join(called)} {verb} already defined\n" if called else "", "functions")
    return join("", ("```python\n", loaded, defined, tagged(converted, "names"), correction(hint), part))


def correction(hint: TaggedText) -> TaggedText:
    """Return the comment before code that is written anew; `extract_code` removes it again."""
    words = " ".join(harmless(hint.text).split())[:MAX_HINT_CHARS]
    return tagged(f"# corrected: {words}\n" if words else "", *kinds_of(hint.spans))
