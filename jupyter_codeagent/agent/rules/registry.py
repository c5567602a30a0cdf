"""The table of rules, in the order in which they are asked; the loop knows no single one.

Before a run every rule is asked, and each sees what the one before it made. After an error, and after a result, the
first answer counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from jupyter_codeagent.agent.rules import (
    api_changes,
    api_errors,
    assignments,
    columns,
    conversions,
    display,
    display_checks,
    duplicate_expressions,
    groups,
    hints,
    imports,
    label_rows,
    loading,
    named_results,
    p_value_conclusions,
    plots,
    polars_names,
    statistics,
    tool_names,
    unused_data,
    user_variables,
    value_matching,
)
from jupyter_codeagent.agent.rules.rule import Apply, Fix, Issue, Program, Rule, Stage
from jupyter_codeagent.agent.source import bound_names, parse
from jupyter_codeagent.types.sandbox import ExecutionResult

KEEP_VARIABLES = "keep-variables"
_OF_NAMES = ("keep-functions", "drop-reloads", KEEP_VARIABLES)
"""Rules before the run that know names alone, none of the data."""


def _fix(stage: Stage, name: str, apply: Apply) -> Rule:
    return Rule(name=name, stage=stage, gives=Fix, apply=apply)


def _issue(stage: Stage, name: str, apply: Apply) -> Rule:
    return Rule(name=name, stage=stage, gives=Issue, apply=apply)


RULES: tuple[Rule, ...] = (
    # Before the run: the program means one thing and says another.
    _fix("before_run", "keep-functions", tool_names.keep_functions),
    _fix("before_run", "drop-reloads", loading.drop_reloads),
    _fix("before_run", "modern-names", api_changes.modern_names),
    _fix("before_run", "assign-back", assignments.assign_back),
    _fix("before_run", "bind-comparisons", assignments.bind_comparisons),
    _fix("before_run", "p-value-second", statistics.p_value_second),
    _fix("before_run", "p-value-of-correlation", statistics.p_value_of_correlation),
    _fix("before_run", "zscore-without-missing", statistics.zscore_without_missing),
    _fix("before_run", "draw-on-the-figure", plots.draw_on_the_figure),
    _fix("before_run", "population-deviation", statistics.population_deviation),
    _fix("before_run", "turn-conclusion", p_value_conclusions.turn_conclusion),
    _fix("before_run", "add-conclusion", p_value_conclusions.add_conclusion),
    _fix("before_run", KEEP_VARIABLES, user_variables.keep_variables),
    _fix("before_run", "unwrap-return", display.unwrap_return),
    _fix("before_run", "bind-asked-name", display.bind_asked_name),
    _fix("before_run", "display-unused", display.display_unused),
    _fix("before_run", "display-last", display.display_last),
    _fix("before_run", "quiet-plot", display.quiet_plot),
    _fix("before_run", "add-imports", imports.add_imports),
    # After an error: what is certain runs again without the model.
    _fix("after_error", "rename-argument", tool_names.rename_argument),
    _fix("after_error", "translate-to-polars", polars_names.translate_to_polars),
    _fix("after_error", "respell-columns", columns.respell_columns),
    _fix("after_error", "use-joined-table", columns.use_joined_table),
    _fix("after_error", "join-lookup-table", columns.join_lookup_table),
    _fix("after_error", "convert-dates", conversions.convert_dates),
    _fix("after_error", "round-columns", api_errors.round_columns),
    _fix("after_error", "root-of-squared", api_errors.root_of_squared),
    # Else the model is given a hint.
    _issue("after_error", "hint-removed-attribute", hints.removed_attribute),
    _issue("after_error", "hint-column", hints.nearest_column),
    _issue("after_error", "hint-name", hints.nearest_name),
    _issue("after_error", "hint-module", hints.missing_module),
    _issue("after_error", "hint-file", hints.missing_file),
    _issue("after_error", "hint-frequency", hints.renamed_frequency),
    _issue("after_error", "hint-merge", hints.merge_dtypes),
    _issue("after_error", "hint-number-in-text", hints.number_in_text),
    _issue("after_error", "hint-known-error", hints.known_error),
    # After a result: what looks wrong goes back to the model once.
    _issue("after_result", "nothing-displayed", display_checks.nothing_displayed),
    _issue("after_result", "function-displayed", display_checks.function_displayed),
    _issue("after_result", "unfinished-object", display_checks.unfinished_object),
    _issue("after_result", "empty-result", display_checks.empty_result),
    _issue("after_result", "all-missing", display_checks.all_missing),
    _issue("after_result", "forgotten-group", groups.forgotten_group),
    _issue("after_result", "one-number", groups.one_number),
    _issue("after_result", "no-offered-word", display_checks.no_offered_word),
    _issue("after_result", "duplicate-expressions", duplicate_expressions.duplicate_expressions),
    _issue("after_result", "unnamed-rows", label_rows.unnamed_rows),
    _issue("after_result", "one-missing", display_checks.one_missing),
    _issue("after_result", "unused-data", unused_data.unused_data),
    # ... or is corrected without it.
    _fix("after_result", "name-results", named_results.name_results),
    Rule(name="match-values", stage="after_result", gives=Fix, apply=value_matching.match_values, probed=True),
)
DISPLAY_RULES = frozenset(
    {"unwrap-return", "bind-asked-name", "display-unused", "display-last", "quiet-plot", "add-imports"}
)
"""Rules that see to what a cell displays and imports, and change nothing that it computes."""


def correct(program: Program) -> Fix:
    """Apply all rules before the run; the code comes back unchanged where none has anything to correct."""
    code, notes, names = program.code, list[str](), list[str]()
    if parse(code) is None:
        return Fix(code=code)
    for fix in _corrections(program):
        code = fix.code
        notes += fix.notes
        names += fix.rules
    return Fix(code=code, notes=tuple(dict.fromkeys(notes)), rules=tuple(names))


def _corrections(program: Program) -> Iterator[Fix]:
    for rule in _rules("before_run", Fix):
        if isinstance(fix := answer(rule, program), Fix):
            program = replace(program, code=fix.code)
            yield fix


def with_own_variables(program: Program, written: str) -> str:
    """Return what the model wrote of a program, with the variables that take the place of the user's.

    So later prompts have it, under the privacy mode `schema` too: what the model goes on from has these names.
    """
    taken = program.live.taken | bound_names(program.tree)
    told = replace(program, code=written, live=replace(program.live, taken=taken))
    for rule in _rules("before_run", Fix):
        if rule.name in _OF_NAMES and isinstance(fix := answer(rule, told), Fix):
            told = replace(told, code=fix.code)
    return told.code


def repair(program: Program) -> Fix | None:
    """Correct a program that ended with an error, where it is certain how."""
    return _first_fix("after_error", program)


def correct_result(program: Program) -> Fix | None:
    """Correct a program whose result is known, where it is certain how."""
    return _first_fix("after_result", program)


def _keeping_variables(fix: Fix, program: Program) -> Fix:
    """Return the correction of a program, which may write to a column, so that the user's variables stay too."""
    rule = next((rule for rule in RULES if rule.name == KEEP_VARIABLES), None)
    kept = answer(rule, replace(program, code=fix.code)) if rule is not None else None
    if not isinstance(kept, Fix):
        return fix
    return replace(fix, code=kept.code, notes=(*fix.notes, *kept.notes), rules=(*fix.rules, *kept.rules))


def probed_rules() -> tuple[Rule, ...]:
    """Return the rules that need a probe."""
    return tuple(rule for rule in RULES if rule.probed)


def answer(rule: Rule, program: Program) -> Fix | Issue | None:
    """Ask one rule, and note its name in what it answers."""
    found = rule.apply(program)
    if isinstance(found, Issue):
        return replace(found, rule=rule.name)
    changes = found is not None and found.code != program.code and parse(found.code) is not None
    return replace(found, rules=(rule.name,)) if found is not None and changes else None


def find_hint(result: ExecutionResult) -> Issue | None:
    """Say what to do about the error of a program; the error and the namespace say all that hints need."""
    return _first_issue("after_error", Program(code="", result=result))


def find_issue(program: Program) -> Issue | None:
    """Say what looks wrong about the result of a program that ended without an error."""
    is_ok = program.result is not None and program.result.status == "ok"
    return _first_issue("after_result", program) if is_ok else None


def _rules(stage: Stage, gives: type[Fix] | type[Issue]) -> Iterator[Rule]:
    return (rule for rule in RULES if rule.stage == stage and rule.gives is gives and not rule.probed)


def _first_fix(stage: Stage, program: Program) -> Fix | None:
    answers = (answer(rule, program) for rule in _rules(stage, Fix))
    found = next((found for found in answers if isinstance(found, Fix)), None)
    return _keeping_variables(found, program) if found is not None else None


def _first_issue(stage: Stage, program: Program) -> Issue | None:
    answers = (answer(rule, program) for rule in _rules(stage, Issue))
    return next((found for found in answers if isinstance(found, Issue)), None)
