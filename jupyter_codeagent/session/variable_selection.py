"""The values that the sandbox gets in a run, and which part of each: what the user named, narrowed by the options.

This runs on the main thread, before anything is copied. The live variables are not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from jupyter_codeagent.sandbox.data.condition import Condition, parse_condition
from jupyter_codeagent.sandbox.data.engines import (
    engine_of,
    fetch,
    format_copy_advice,
    is_database,
    library_of,
)
from jupyter_codeagent.sandbox.data.lazy_plans import Plan, is_lazy, make_plan
from jupyter_codeagent.sandbox.data.limits import estimated_bytes, format_too_large
from jupyter_codeagent.sandbox.data.subset import Subset, SubsetRequest, supports_subset, take_subset
from jupyter_codeagent.types.errors import UsageError, VariableError
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.types.variables import ColumnSummary, LocalFile, Manifest, SkippedVariable, VariableSummary
from jupyter_codeagent.variables.columns import column_name, type_text
from jupyter_codeagent.variables.describers import arrow, polars
from jupyter_codeagent.variables.mentions import names_variable, words_of
from jupyter_codeagent.variables.privacy.unused_categories import without_unused
from jupyter_codeagent.variables.relevance import NO_CLUES, SelectionClues, relevant_variables

AskForFiles = Callable[[str, Sequence[LocalFile]], None]
"""Function of (variable, its files) that raises DeniedError or VariableError unless the sandbox may read them."""
PLANNED = ("polars", "duckdb_relation")
"""Frames of these libraries are copied as a plan where they are over files, and else queried where they lie."""


@dataclass(frozen=True, kw_only=True)
class VariableSelection:
    """What is copied. `values` are the live ones, except for those of which the sandbox gets a part or a plan."""

    names: tuple[str, ...]
    values: Mapping[str, Any]
    required: bool
    """Whether a name that cannot be copied ends the run; else it is skipped, with the reason."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Variable -> which part of it is copied."""
    plans: Mapping[str, Plan] = field(default_factory=dict)
    """Plans of lazy variables."""
    narrowed: frozenset[str] = frozenset()
    """Variables of which the sandbox has other rows or columns than the live kernel: they are described again."""
    skipped: tuple[SkippedVariable, ...] = ()
    databases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Databases that the code queries where they lie -> the tables and columns that are named, none for all."""

    def complete(self, manifest: Manifest) -> Manifest:
        """Return the manifest with what is known here of the variables that were copied."""
        copied = []
        for copy in manifest.copied:
            plan = self.plans.get(copy.name)
            known = copy if plan is None else replace(copy, type_name=plan.type_name, reads=plan.files)
            copied.append(replace(known, note=self.notes.get(copy.name, "")))
        return replace(manifest, copied=tuple(copied), skipped=(*manifest.skipped, *self.skipped))

    def described(
        self, summaries: Sequence[VariableSummary], manifest: Manifest, describe: Callable[..., Any]
    ) -> tuple[VariableSummary, ...]:
        """Return the summaries of what the sandbox has, those of narrowed variables by `describe(values)`.

        Requested variables that could not be copied are among them: code that needs one fails with a clear error.
        A lazy variable has the columns of its plan if the plan was copied.
        """
        known = {*self.names, *self.databases, *(skipped.name for skipped in self.skipped)}
        copied = {copy.name for copy in manifest.copied}
        parts = {name: self.values[name] for name in self.notes if name in self.narrowed}
        again: dict[str, VariableSummary] = {summary.name: summary for summary in describe(parts)} if parts else {}
        found = []
        for summary in summaries:
            if summary.name not in known:
                continue
            current = again.get(summary.name, summary)
            plan = self.plans.get(summary.name)
            if plan is not None and summary.name in copied and not current.columns:
                current = replace(current, columns=_columns(plan))
            note = self.notes.get(summary.name, "")
            if note:
                bare = f"{current.bare_headline} ({note})"
                current = replace(current, headline=f"{current.headline} ({note})", bare_headline=bare)
            found.append(current)
        return tuple(found)

    @property
    def run_notes(self) -> tuple[str, ...]:
        """Return the notes for the receipt."""
        return tuple(
            f"numbers for {name} are from its copy ({note}); accepted cells run on your whole {name}"
            for name, note in self.notes.items()
        )


def select_variables(
    variables: Mapping[str, Any],
    summaries: Sequence[VariableSummary],
    prompt: str,
    options: RunOptions,
    *,
    always: Sequence[str],
    max_bytes: int,
    ask: AskForFiles,
    clues: SelectionClues = NO_CLUES,
) -> VariableSelection:
    """Select names, then narrow each; the user shares those in `always` for every run.

    Raises
    ------
    VariableError, UsageError, DeniedError
    """
    where = parse_condition(options.where) if options.where is not None else None
    columns = {**clues.databases, **dict(options.columns)}
    wanted = {
        name: SubsetRequest(columns=columns.get(name, ()), sample=options.sample, where=where) for name in variables
    }
    if options.variables is not None:
        names: tuple[str, ...] = options.variables
        skipped: tuple[SkippedVariable, ...] = ()
    else:
        sized = [_as_narrowed(summary, variables.get(summary.name), wanted) for summary in summaries]
        default = relevant_variables(sized, prompt, max_bytes=max_bytes, clues=clues)
        names, skipped = _by_prompt(variables, sized, prompt, default, max_bytes)
    names = tuple(dict.fromkeys((*names, *always)))
    required = options.variables is not None
    chosen = _Parts(
        variables,
        wanted,
        required=required,
        max_bytes=max_bytes,
        ask=ask,
        is_dry=options.dry_run,
        named=(*names,) if required else (*always, *clues.databases),
    )
    for name in names:
        chosen.take(name)
    if where is not None:
        _check_used(where, [variables[name] for name in names if name in variables], chosen.notes)
    return VariableSelection(
        names=tuple(name for name in names if name not in chosen.left_out | {*chosen.databases}),
        values={**variables, **chosen.values},
        required=required,
        notes=chosen.notes,
        plans=chosen.plans,
        narrowed=frozenset(chosen.values) - frozenset(chosen.plans),
        skipped=(*skipped, *chosen.skipped),
        databases=chosen.databases,
    )


class _Parts:
    """Collects the outcome for each name."""

    def __init__(
        self,
        variables: Mapping[str, Any],
        wanted: Mapping[str, SubsetRequest],
        *,
        required: bool,
        max_bytes: int,
        ask: AskForFiles,
        is_dry: bool,
        named: Sequence[str],
    ) -> None:
        self._is_dry = is_dry
        self._named = frozenset(named)
        self._variables = variables
        self._wanted = wanted
        self._required = required
        self._max_bytes = max_bytes
        self._ask = ask
        self.values: dict[str, Any] = {}
        self.notes: dict[str, str] = {}
        self.plans: dict[str, Plan] = {}
        self.databases: dict[str, tuple[str, ...]] = {}
        self.skipped: list[SkippedVariable] = []

    @property
    def left_out(self) -> frozenset[str]:
        return frozenset(skipped.name for skipped in self.skipped)

    def take(self, name: str) -> None:
        if name not in self._variables:
            return  # the export reports it, with similar names
        try:
            self._take(name, self._variables[name], self._wanted[name])
        except VariableError as problem:
            if self._required:
                raise
            self.skipped.append(SkippedVariable(name=name, reason=str(problem)))

    def _take(self, name: str, value: Any, wanted: SubsetRequest) -> None:
        engine = engine_of(value)
        if name in self._named and self._is_queried(name, value, wanted):
            self._take_database(name, value, wanted)
        elif is_lazy(value):
            plan = self._plan(name, value, wanted)
            if plan.files:
                self._ask(name, plan.files)
            self._keep(name, plan.value, plan.note)
            self.plans[name] = plan
        elif is_database(value) or (engine is not None and not self._required):
            raise VariableError(format_copy_advice(name, value))
        elif engine is not None and self._is_dry:
            reason = f"a dry run fetches nothing; a run would have {engine.name} fetch what you ask for"
            self.skipped.append(SkippedVariable(name=name, reason=reason))
        elif engine is not None:
            part = fetch(name, value, wanted)
            self._keep(name, part.value, part.note)
        elif wanted.columns and not supports_subset(value):
            raise VariableError(f"{name!r} is a {type(value).__name__}: it has no columns to select.")
        else:
            part = take_subset(name, value, wanted) if wanted and supports_subset(value) else Subset(value=value)
            used, left_out = without_unused(name, part.value)
            if note := "; ".join(note for note in (part.note, left_out) if note):
                self._keep(name, used, note)

    def _plan(self, name: str, value: Any, wanted: SubsetRequest) -> Plan:
        try:
            return make_plan(name, value, wanted, max_bytes=self._max_bytes)
        except VariableError as problem:
            if library_of(value) not in PLANNED or name in self._named:
                raise
            raise VariableError(f"{problem} `--vars {name}` lets the code query it in place.") from problem

    def _is_queried(self, name: str, value: Any, wanted: SubsetRequest) -> bool:
        """Check for what the code asks where it lies, unless the user wants a part of its rows copied."""
        is_copied = engine_of(value) is not None and wanted.sample is not None
        is_part = wanted.sample is not None or wanted.where is not None
        if library_of(value) is None or is_copied or (library_of(value) in PLANNED and is_part):
            return False
        return not self._is_over_files(name, value, wanted)

    def _is_over_files(self, name: str, value: Any, wanted: SubsetRequest) -> bool:
        """Check for what the sandbox can open itself: a LazyFrame, or what DuckDB reads from files alone.

        Relations that are named together can be joined, so they are opened or queried together.
        """
        if library_of(value) != "duckdb_relation":
            return self._has_plan(name, value, wanted)
        together = {key: self._variables.get(key) for key in self._named}
        return all(
            self._has_plan(key, one, self._wanted[key])
            for key, one in together.items()
            if library_of(one) == "duckdb_relation"
        )

    def _has_plan(self, name: str, value: Any, wanted: SubsetRequest) -> bool:
        if not is_lazy(value) or (wanted and library_of(value) != "polars"):
            return False
        try:
            make_plan(name, value, wanted, max_bytes=self._max_bytes)
        except VariableError:
            return False
        return True

    def _take_database(self, name: str, value: Any, wanted: SubsetRequest) -> None:
        if wanted.sample is not None or wanted.where is not None:
            raise VariableError(f"{name!r} is queried by the code in place: leave --sample and --where out.")
        if self._is_dry and library_of(value) in ("sqlalchemy", "spark", "polars"):
            reason = "a dry run asks no database for its tables; a run would have the code query it"
            self.skipped.append(SkippedVariable(name=name, reason=reason))
        else:
            self.databases[name] = wanted.columns

    def _keep(self, name: str, value: Any, note: str) -> None:
        self.values[name] = value
        if note:
            self.notes[name] = note


def _columns(plan: Plan) -> tuple[ColumnSummary, ...]:
    return tuple(ColumnSummary(name=column_name(name), dtype=_type_text(kind)) for name, kind in plan.columns)


def _type_text(kind: Any) -> str:
    """Return a type as the describers write it: the type of an Enum has its values in it."""
    library = (kind if isinstance(kind, type) else type(kind)).__module__.partition(".")[0]
    if library == "polars":
        return polars.short_type(kind() if isinstance(kind, type) else kind)
    return arrow.short_type(kind) if library == "pyarrow" else type_text(kind)


def _by_prompt(
    variables: Mapping[str, Any],
    summaries: Sequence[VariableSummary],
    prompt: str,
    names: tuple[str, ...],
    max_bytes: int,
) -> tuple[tuple[str, ...], tuple[SkippedVariable, ...]]:
    """Select `relevant_variables` and lazy values that the prompt names; skip what is too large, with a reason."""
    words = words_of(prompt)
    not_in_memory = [
        summary.name
        for summary in summaries
        if names_variable(words, summary)
        and _is_not_in_memory(variables.get(summary.name))
        and summary.name not in names
    ]
    if not_in_memory and not any(names_variable(words, s) for s in summaries if s.name in names):
        names = ()  # the prompt names what it is about
    named = any(names_variable(words, summary) for summary in summaries if summary.copyable) or bool(not_in_memory)
    skipped = []
    for summary in () if named else summaries:
        size_bytes = summary.size_bytes or 0
        if summary.frame_like and summary.name not in names and size_bytes > max_bytes:
            reason = format_too_large(
                summary.name, variables[summary.name], size_bytes=size_bytes, limit_bytes=max_bytes
            )
            skipped.append(SkippedVariable(name=summary.name, reason=reason))
    for name in names:
        _require_fitting(name, variables.get(name), summaries, words, max_bytes)
    return (*names, *not_in_memory), tuple(skipped)


def _is_not_in_memory(value: object) -> bool:
    return is_lazy(value) or engine_of(value) is not None or is_database(value)


def _as_narrowed(summary: VariableSummary, value: Any, wanted: Mapping[str, SubsetRequest]) -> VariableSummary:
    """Return the summary with the size left: known for a sample, unknown for a condition before it is evaluated."""
    narrowing = wanted.get(summary.name, SubsetRequest())
    if not narrowing or not summary.size_bytes or not supports_subset(value):
        return summary
    if narrowing.where is not None:
        return replace(summary, size_bytes=0)
    if narrowing.sample is not None and len(value) > narrowing.sample:
        return replace(summary, size_bytes=int(summary.size_bytes * narrowing.sample / len(value)))
    return summary


def _require_fitting(
    name: str, value: Any, summaries: Sequence[VariableSummary], words: frozenset[str], max_bytes: int
) -> None:
    """Raise VariableError if a variable is too large to copy and the prompt names it: the question needs it."""
    for summary in summaries:
        size_bytes = summary.size_bytes or 0
        if summary.name == name and names_variable(words, summary) and size_bytes > max_bytes:
            raise VariableError(
                format_too_large(
                    name, value, size_bytes=max(size_bytes, estimated_bytes(value)), limit_bytes=max_bytes
                )
            )


def _check_used(where: Condition, values: Sequence[Any], notes: Mapping[str, str]) -> None:
    """Raise UsageError for a condition whose columns no frame has: the result would be of all rows."""
    if any("where" in note for note in notes.values()):
        return
    frames = [value for value in values if supports_subset(value) or _is_not_in_memory(value)]
    raise UsageError(
        f"--where {where.text!r}: none of the {len(frames)} frames has all of the columns "
        f"{', '.join(map(repr, where.names))}."
    )
