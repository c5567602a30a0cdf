"""The evaluation itself: scoring, what is kept, what is reported."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from evals import ablations, results
from evals.__main__ import chosen
from evals.checks import any_of, at_most_numbers, is_shown, number, numbers_in, row
from evals.measure import measure
from evals.report import plot, summarized, table
from evals.results import ResultFile, TaskResult, TurnResult
from evals.rule_counts import count_rules, rules_table
from evals.suites.dabench import dabench_tasks, is_equal, scored
from evals.suites.kpi import TASKS as KPI
from evals.suites.own import own_tasks
from evals.systems.answer import Answer, Spent, retypes_data
from evals.task import Evidence, Task
from jupyter_codeagent.agent.rules import registry
from jupyter_codeagent.agent.rules.rule import Fix, Issue, Program, Rule

GIVEN = "import pandas as pd\n"


def test_figures_are_read_with_separators_signs_and_exponents_and_not_out_of_words() -> None:
    found = numbers_in("-132,919.66 and 1.5e3, −7.67 % in 2x3 at v1.2.3; .5")
    assert found == [-132919.66, 1500.0, -7.67, 0.5]


def test_a_figure_is_shown_within_its_rounding_and_not_beyond() -> None:
    assert is_shown(3.14159, "about 3.14")
    assert is_shown(3.14159, "3.1415927")
    assert not is_shown(3.14159, "3.15")
    assert not is_shown(3.14159, "3.1")
    assert is_shown(-7.67, "fell by 7.67 %", either_sign=True)
    assert not is_shown(-7.67, "fell by 7.67 %")


def test_a_row_wants_name_and_figures_on_one_line() -> None:
    shown = Evidence(text="Oslo 1.50\nRome 2.50")
    assert not row("Rome", 2.5)(shown)
    assert row("Oslo", 2.5)(shown)
    assert not any_of(row("Oslo", 2.5), row("Oslo", 1.5))(shown)
    assert at_most_numbers(1)(shown)


def test_a_share_counts_as_share_and_as_percent_only_where_it_is_said() -> None:
    assert not number(0.256, percent=True)(Evidence(text="25.6 %"))
    assert number(0.256)(Evidence(text="25.6 %"))


@pytest.fixture
def benchmark_folder(tmp_path: Path) -> Path:
    entry = {
        "id": 7,
        "question": "What is the mean?",
        "constraints": "Round it.",
        "format": '@mean_n[mean_value] where "mean_value" is rounded to two decimal places.',
        "file_name": "t.csv",
        "level": "easy",
    }
    (tmp_path / "questions.jsonl").write_text(json.dumps(entry) + "\n")
    (tmp_path / "labels.jsonl").write_text(json.dumps({"id": 7, "common_answers": [["mean_n", "2.50"]]}) + "\n")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "t.csv").write_text("n\n2\n3\n")
    return tmp_path


def test_dabench_asks_with_the_form_as_a_line_to_print_and_scores_as_the_official_script(
    benchmark_folder: Path,
) -> None:
    [task] = dabench_tasks(benchmark_folder)
    [turn] = task.turns
    assert '\nprint(f"@mean_n[{mean_value:.2f}]")\n' in turn.question
    assert "rounded to two decimal places" in turn.question
    assert not turn.check(Evidence(text="so: @mean_n[2.5]"))
    assert turn.check(Evidence(text="@mean_n[2.51]"))
    assert turn.check(Evidence(text="2.5"))


def test_each_name_of_a_label_has_to_be_right() -> None:
    check = scored([["a", "1"], ["b", "yes"]])
    assert not check(Evidence(text="@a[1.0] @b[yes]"))
    assert "@b" in check(Evidence(text="@a[1.0] @b[no]"))
    assert is_equal("0.3333333", "0.33333333")
    assert not is_equal("0.333", "0.3333")


def test_a_folder_that_is_not_the_benchmark_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"labels\.jsonl"):
        dabench_tasks(tmp_path)


def test_data_that_is_typed_again_is_seen_and_a_frame_of_results_is_not() -> None:
    assert retypes_data([f"{GIVEN}df = pd.DataFrame({{'a': [1.5, 2, 3], 'b': [4, 5, 6]}})"])
    assert not retypes_data([f"{GIVEN}out = pd.DataFrame({{'mean': [df.a.mean()], 'n': [3]}})"])
    assert not retypes_data(["df[['a', 'b', 'c', 'd', 'e', 'f', 'g']]", "not python ("])


class Scripted:
    """A system that always says the same."""

    def __init__(self, text: str) -> None:
        self.name, self.asked, self._text = "scripted", list[str](), text

    def begin(self, task: Task) -> None:
        self.asked.append(task.id)

    def ask(self, question: str) -> Answer:
        return Answer(
            evidence=Evidence(text=self._text),
            spent=Spent(calls=1, prompt_tokens=100, completion_tokens=20, seconds=1.5),
            ran_at_once=True,
        )

    def close(self) -> None:
        pass


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ResultFile:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    return ResultFile("test")


def test_what_is_measured_is_kept_at_once_and_not_asked_again(file: ResultFile, benchmark_folder: Path) -> None:
    tasks = dabench_tasks(benchmark_folder)
    told: list[TaskResult] = []
    measure("dabench", tasks, Scripted("@mean_n[2.5]"), file, told.append)
    assert [result.right for result in told] == [True]
    again = Scripted("@mean_n[2.5]")
    measure("dabench", tasks, again, ResultFile("test"), told.append)
    assert again.asked == []
    assert file.read() == told


def test_a_line_that_a_crash_cut_is_measured_again_and_harms_no_other(
    file: ResultFile, benchmark_folder: Path
) -> None:
    [task] = dabench_tasks(benchmark_folder)
    measure("dabench", [task], Scripted("@mean_n[2.5]"), file, lambda _: None)
    whole = file.path.read_bytes()
    file.path.write_bytes(whole + whole[:100])
    other = dataclasses.replace(task, id="dabench-8")
    measure("dabench", [task, other], Scripted("x"), file, lambda _: None)
    assert [(found.task, found.right) for found in file.read()] == [("dabench-7", True), ("dabench-8", False)]


def test_the_report_counts_right_answers_and_what_a_task_cost(file: ResultFile, benchmark_folder: Path) -> None:
    measure("dabench", dabench_tasks(benchmark_folder), Scripted("@mean_n[2.5]"), file, lambda _: None)
    measure("kpi", KPI, Scripted("I do not know."), file, lambda _: None)
    right, wrong = summarized(file.read())
    assert (right.right, right.tasks, right.prompt_tokens, right.completion_tokens) == (1, 1, 100, 20)
    assert (wrong.suite, wrong.right) == ("kpi", 0)
    assert "1 of 1" in table(file.read())
    plot(file.read(), file.path.with_suffix(".png"))
    assert file.path.with_suffix(".png").stat().st_size > 1000


def test_tasks_are_chosen_by_name_and_by_number() -> None:
    tasks = own_tasks()
    assert chosen(tasks, "^penguins-", 1) == [task for task in tasks if task.id.startswith("penguins-")]
    assert chosen(tasks, "", 2) == list(tasks[::2])


def test_every_technique_that_can_be_taken_out_is_there() -> None:
    for replaced in ablations.TECHNIQUES.values():
        for place, name, _ in replaced:
            assert hasattr(place, name)
    with pytest.raises(KeyError):
        ablations.remove("nothing of the kind")


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> tuple[Rule, ...]:
    """The table, which is whole again afterwards."""
    monkeypatch.setattr(registry, "RULES", registry.RULES)
    return registry.RULES


def test_each_rule_can_be_taken_out_by_its_name_and_all_others_stay(rules: tuple[Rule, ...]) -> None:
    for rule in rules:
        assert ablations.left(rules, [rule.name]) == tuple(other for other in rules if other is not rule)


def test_a_rule_that_was_taken_out_corrects_nothing(rules: tuple[Rule, ...]) -> None:
    program = Program(code="x = np.NaN\nprint(x)", defined=["np"])
    assert registry.correct(program).rules == ("modern-names",)
    ablations.remove("modern-names")
    assert registry.correct(program).code == program.code


def test_a_group_of_rules_can_be_taken_out_by_its_name(rules: tuple[Rule, ...]) -> None:
    ablations.remove("hints", "rewrites")
    assert {(rule.stage, rule.gives) for rule in registry.RULES} == {
        ("after_error", Fix), ("after_result", Issue), ("after_result", Fix)
    }  # fmt: skip


def test_the_names_of_rules_can_be_typed_and_stand_for_one_rule_each(rules: tuple[Rule, ...]) -> None:
    names = ablations.names()
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)


def turn(*, right: bool, rules: tuple[str, ...] = ()) -> TurnResult:
    return TurnResult(
        right=right, complaint="", error="", spent=Spent(), ran_at_once=True, parse_failures=0, retyped=False,
        programs=(), text="", rules=rules,
    )  # fmt: skip


def asked(system: str, *turns: TurnResult) -> TaskResult:
    return TaskResult(
        suite="own", system=system, task="t", topic="table", level="", turns=turns, commit="c", at="now"
    )


def test_what_each_rule_did_is_counted_in_right_and_wrong_answers_and_against_those_without_it() -> None:
    first, second, *_ = [rule.name for rule in registry.RULES]
    results = [
        asked("ours", turn(right=True, rules=(first, first, second)), turn(right=False, rules=(first,)),
              turn(right=False), turn(right=True)),
        asked(f"ours without {first}", turn(right=False), turn(right=True), turn(right=False), turn(right=True)),
    ]  # fmt: skip
    count, other, *rest = count_rules(results)
    assert (count.fired, count.right, count.wrong) == (3, 1, 1)
    assert (count.asked_without, count.won, count.lost) == (4, 1, 1)
    assert (other.fired, other.right, other.wrong, other.asked_without) == (1, 1, 0, 0)
    assert not any(one.fired for one in rest)
    assert len(rules_table(results).splitlines()) == len(registry.RULES) + 2


def test_results_of_versions_that_recorded_no_rules_are_read(file: ResultFile) -> None:
    file.append(asked("ours", turn(right=True)))
    old = json.loads(file.path.read_text())
    del old["turns"][0]["rules"]
    file.path.write_text(json.dumps(old) + "\n")
    [found] = file.read()
    assert found.turns[0].rules == ()
