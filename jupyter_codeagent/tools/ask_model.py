"""`ask_model`: code asks the model about single texts or rows, to classify or extract what no program can.

It is a function of the user's kernel like others that code may call, with a budget of its own. What the model
reads is masked as results are, and nothing is sent to it under the privacy level `schema`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence, Sized
from dataclasses import replace
from typing import Any

from jupyter_codeagent.agent.sent_requests import SentRequests
from jupyter_codeagent.models.protocol import Model
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.models.tokens import estimate_tokens
from jupyter_codeagent.settings.enforcement import check_switched_on
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.tools.tool import Tool, tool_of
from jupyter_codeagent.types.messages import CompletionRequest, Usage
from jupyter_codeagent.types.tagged_text import message, tagged
from jupyter_codeagent.types.variables import ToolPolicy
from jupyter_codeagent.variables.privacy.masking import masked

NAME = "ask_model"
SYSTEM = "Answer the question about the text with the answer alone, in a few words."
PROMPT_DOC = """\
Ask the language model about a text, or each text of a list or column or row of a frame: one short
answer each, in their order; None for a blank one. With choices each answer is one of them, or None."""
"""The tool's docstring, which the prompt contains."""
MAX_TEXTS = 500
"""Most different texts of one call."""
MAX_TEXT_CHARS = 2000
MAX_ITEMS = 100_000
"""Most texts of one call, repeated ones included."""
MAX_PROMPT_CHARS = 2000
MAX_CHOICES = 50
MAX_CHOICE_CHARS = 100
MAX_ANSWER_TOKENS = 40
AT_ONCE = 4


class ModelQuestions:
    """Answers the questions of a session's code; `begin` is called for each run."""

    def __init__(
        self,
        *,
        settings: Callable[[], Settings],
        models: ModelResolver,
        masked_values: Callable[[str], Awaitable[Sequence[str]]],
        run: Callable[[Coroutine[Any, Any, Any]], Any],
    ) -> None:
        """`run` waits for a coroutine on the main thread; `masked_values` finds values to mask for every model."""
        self._settings = settings
        self._models = models
        self._masked_values = masked_values
        self._run = run
        self._in_force: Settings | None = None
        """Settings of the run, not read before it begins: a policy that cannot be read is reported there."""
        self._sent = SentRequests()
        self.spent = Usage()
        """Tokens that this run has used."""
        self._is_running = False
        self._under_way = 0
        """Estimated tokens of the questions in progress."""

    @property
    def _tokens(self) -> int:
        return self.spent.prompt_tokens + self.spent.completion_tokens + self._under_way

    def begin(self, settings: Settings, sent: SentRequests | None = None) -> None:
        """Begin a run with these settings and the whole budget; its requests are noted in `sent`."""
        self._in_force = settings
        self._sent = sent or SentRequests()
        self._is_running = True
        self.spent = Usage()

    def end(self) -> None:
        """End the run."""
        self._is_running = False

    def tool(self, policy: ToolPolicy) -> Tool:
        # `data` has no default: asked about nothing, a small model invents what it was to find in the data.
        def ask_model(prompt: str, data: Any, choices: list[str] | None = None) -> Any:
            if not self._is_running:  # called by a cell of the user
                self.begin(self._settings())
                self.end()
            return self._run(self.ask(prompt, data, choices))

        ask_model.__doc__ = PROMPT_DOC

        async def of_run(prompt: str, data: Any, choices: list[str] | None = None) -> Any:
            return await self.ask(prompt, data, choices)

        return replace(tool_of(ask_model, name=NAME, policy=policy), coroutine=of_run)

    async def ask(self, prompt: str, data: Any, choices: Sequence[str] | None) -> Any:
        """Ask the model about each different text once; return an answer for each text, in order.

        Raises
        ------
        PermissionError
            The privacy level forbids sending values.
        DeniedError
            No function may be called.
        ValueError
            Too many texts, or the budget is spent.
        ModelError
        """
        settings = self._in_force or self._settings()
        check_switched_on(settings, "tools", NAME)
        if settings.privacy == "schema":
            raise PermissionError(f"{NAME} sends values to the model, which privacy 'schema' forbids")
        check_question(prompt, choices)
        texts, is_one = texts_of(data)
        different = [text for text in dict.fromkeys(texts) if text.strip()]
        if len(different) > MAX_TEXTS:
            raise ValueError(f"{NAME} takes at most {MAX_TEXTS} different texts, not {len(different)}")
        endpoint = await self._models.find(settings.model)
        model = self._sent.of(await self._models.open(endpoint, settings.model, on_loading=lambda: None), endpoint)
        places = asyncio.Semaphore(AT_ONCE)

        async def answered(text: str) -> str | None:
            async with places:
                return await self._answer(model, prompt, text, choices, settings.max_subquestion_tokens)

        asking = [asyncio.ensure_future(answered(text)) for text in different]
        try:
            answers = dict(zip(different, await asyncio.gather(*asking), strict=True))
        finally:
            for one in asking:
                one.cancel()  # the questions that remain when one has failed or the run was stopped
        found = [answers.get(text) for text in texts]  # None for a blank text: the model would invent something
        return found[0] if is_one else found

    async def _answer(
        self, model: Model, prompt: str, text: str, choices: Sequence[str] | None, budget: int
    ) -> str | None:
        asked = question_text(prompt, text, choices)
        text_for_model = masked(asked, await self._masked_values(asked))
        expected = estimate_tokens(SYSTEM + text_for_model) + MAX_ANSWER_TOKENS
        if self._tokens + expected > budget:
            raise ValueError(
                f"{NAME} has used {self._tokens} tokens of {budget} in this run, and the next question takes about "
                f"{expected} (CodeAgent.max_subquestion_tokens)"
            )
        self._under_way += expected
        request = CompletionRequest(
            messages=(message("system", SYSTEM), message("user", tagged(text_for_model, "texts"))),
            purpose="text",
            stop=("\n",),
            max_tokens=MAX_ANSWER_TOKENS,
            grammar=grammar_of(choices) if choices else "",
        )
        try:
            completion = await model.complete(request, on_text=lambda _: None, is_complete=lambda _: False)
        finally:
            self._under_way -= expected
        self.spent += completion.usage
        answer = completion.text.strip().strip("\"'`.").strip()
        return chosen(answer, choices) if choices else answer

    def note(self) -> str:
        """Return ``ask_model: 12 questions, 1,400 tokens``; empty if there were none."""
        tokens = self.spent.prompt_tokens + self.spent.completion_tokens
        questions = "1 question" if self.spent.calls == 1 else f"{self.spent.calls} questions"
        return f"{NAME}: {questions}, {tokens:,} tokens" if self.spent.calls else ""


def offered(tools: Mapping[str, Tool], prompt: str) -> dict[str, Tool]:
    """Return the tools for this prompt, without `ask_model` unless the prompt names it.

    Small models ask it what has nothing to do with the task, and take the answer for a result.
    """
    return {name: tool for name, tool in tools.items() if name != NAME or NAME in prompt}


def check_question(prompt: str, choices: Sequence[str] | None) -> None:
    """Raise ValueError for a prompt longer than a question, and for choices that are too many or too long."""
    if len(prompt) > MAX_PROMPT_CHARS:
        raise ValueError(f"{NAME} takes a question of at most {MAX_PROMPT_CHARS:,} characters, not {len(prompt):,}")
    if choices is None:
        return
    is_plain = isinstance(choices, list | tuple) and all(isinstance(choice, str) for choice in choices)
    if not is_plain or len(choices) > MAX_CHOICES or max(map(len, choices), default=0) > MAX_CHOICE_CHARS:
        raise ValueError(f"{NAME} takes at most {MAX_CHOICES} choices of at most {MAX_CHOICE_CHARS} characters")


def texts_of(data: Any) -> tuple[list[str], bool]:
    """Return the texts, and whether it was a single one; a row of a frame is ``name: value, name: value``.

    Raises
    ------
    ValueError
        There are more texts than anybody can mean: a range has any length at no cost.
    """
    if isinstance(data, Sized) and not isinstance(data, str) and len_of(data) > MAX_ITEMS:
        raise ValueError(f"{NAME} takes at most {MAX_ITEMS:,} texts, not {len_of(data):,}")
    if hasattr(data, "to_pandas"):
        data = data.to_pandas()
    if hasattr(data, "columns"):
        rows = (zip(data.columns, row, strict=True) for row in data.itertuples(index=False, name=None))
        return [_cut(", ".join(f"{name}: {value}" for name, value in row)) for row in rows], False
    if isinstance(data, str | Mapping) or not isinstance(data, Iterable):
        return [_cut(str(data))], True
    return [_cut(str(text)) for text in data], False


def len_of(data: Sized) -> int:
    """Return the length, also of a range that is too long for `len`."""
    try:
        return len(data)
    except OverflowError:
        return sys.maxsize


def question_text(prompt: str, text: str, choices: Sequence[str] | None) -> str:
    """Return the question about one text; what all texts share comes first, where a server can cache it."""
    answers = f"\nAnswer with one of: {', '.join(choices)}" if choices else ""
    return f"{prompt.strip()}{answers}\n\nText: {text}"


def grammar_of(choices: Sequence[str]) -> str:
    """Return a GBNF grammar for one of the choices and nothing else."""
    return f"root ::= {' | '.join(json.dumps(choice, ensure_ascii=False) for choice in choices)}"


def chosen(answer: str, choices: Sequence[str]) -> str | None:
    """Return the choice that equals the answer, or the only one that it names; None otherwise."""
    same = [choice for choice in choices if choice.strip().lower() == answer.lower()]
    named = [choice for choice in choices if choice.strip().lower() in answer.lower()]
    found = same or named
    return found[0] if len(found) == 1 else None


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT_CHARS else f"{text[:MAX_TEXT_CHARS]} …"
