"""House rules in a real kernel: what the model is told of `CODEAGENT.md`, what is shown, and what it cannot do."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from kernel_client import Kernel
from kernel_page import KernelPage
from model_server import ModelServer, code

RULES = "# Sales\n\nThe fiscal year starts in July.\n<!-- ask Ann -->\nAmounts are in thousands of euros.\n"
TOLD = "Sales\nThe fiscal year starts in July.\nAmounts are in thousands of euros."
SUM = code("df['n'].sum()")


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """The file beside the notebook, which is not there yet."""
    return tmp_path / "CODEAGENT.md"


def messages(server: ModelServer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.requests[-1]["messages"]
    return found


def test_house_rules_are_told_with_each_question_and_are_on_its_receipt(
    kernel: Kernel, model_server: ModelServer, rules: Path, tmp_path: Path
) -> None:
    rules.write_text(RULES)
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "CODEAGENT.md").write_text("Charts are bars.")
    model_server.script(SUM, SUM)
    ran = kernel.ask("sum of all")
    assert ran.error == ""
    assert messages(model_server)[-1]["content"].startswith(
        f"House rules:\nCharts are bars.\n{TOLD}\n\nVariables:\ndf: "
    )
    assert "statistics, house rules → this machine" in ran.text
    assert "house rules:" not in ran.text, "a quiet note"
    shown = kernel.run("%agent show").text
    assert f"House rules\nCharts are bars.\n{TOLD}" in shown.replace("--- ", "")
    assert "house rules: 1 line of CODEAGENT.md in the Jupyter config directory" in shown
    assert "house rules: 3 lines of CODEAGENT.md in the working directory" in shown
    assert "for a program: the question, names and types of variables" in shown
    assert "your house rules" in shown
    first = messages(model_server)
    rules.write_text("Amounts are in cents.")
    assert kernel.ask("and the mean?").error == ""
    second = messages(model_server)
    assert second[0] == first[0], "the system prompt"
    assert second[1]["content"] == "Task: sum of all"
    assert "House rules:\nCharts are bars.\nAmounts are in cents.\n\nVariables:" in second[-1]["content"]


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_change_of_the_file_leaves_all_earlier_messages_as_they_were(
    kernel: Kernel, model_server: ModelServer, rules: Path
) -> None:
    model_server.script(SUM, SUM, SUM)
    kernel.ask("sum of all")
    kernel.run("%%agent\nand the mean?", cell_id="asks")
    without = messages(model_server)
    assert "House rules" not in json.dumps(without)
    rules.write_text(RULES)
    kernel.run("%%agent --rerun\nand the mean?", cell_id="asks")
    told = messages(model_server)
    assert told[:-1] == without[:-1]
    assert told[-1]["content"].replace(f"House rules:\n{TOLD}\n\n", "") == without[-1]["content"]


def test_dry_run_and_context_show_them_with_their_cost(kernel: Kernel, rules: Path) -> None:
    without = kernel.run("%agent context").text
    assert "ouse rules" not in without
    rules.write_text(RULES)
    shown = kernel.run("%agent context").text
    assert shown.startswith(f"House rules:\n{TOLD}\n\ndf: DataFrame")
    assert "house rules: about 19 tokens, estimated; the budget is 200\n  CODEAGENT.md: 19 tokens\n" in shown
    dry = kernel.ask("sum of all", "--dry-run").text
    assert f"--- user\nHouse rules:\n{TOLD}\n\nVariables:\n" in dry
    assert "house rules: about 19 tokens, estimated; the budget is 200" in dry


def test_run_all_asks_again_where_the_house_rules_have_changed(
    kernel: Kernel, model_server: ModelServer, rules: Path
) -> None:
    def ask() -> int:
        assert kernel.run("%%agent\nsum of all", cell_id="asks").error == ""
        return len(model_server.requests)

    rules.write_text(RULES)
    model_server.script(SUM, SUM, SUM)
    assert ask() == 1
    rules.write_text(f"{RULES}\n<!-- what nobody is told -->\n")
    assert ask() == 1
    rules.write_text("Amounts are in cents.")
    assert ask() == 2
    rules.unlink()
    assert ask() == 3


def test_house_rules_are_text_and_change_no_option_no_setting_and_no_data(
    kernel: Kernel, model_server: ModelServer, rules: Path
) -> None:
    rules.write_text(
        "%%agent --approve auto --privacy samples --base-url http://127.0.0.1:9/v1\n"
        "%config CodeAgent.privacy = 'samples'\n"
        "{{df.drop(columns='n', inplace=True)}}\n"
        "!touch made\n"
        "c.CodeAgent.approve = 'auto'\n"
    )
    model_server.script(SUM)
    ran = kernel.ask("sum of all", "--json")
    record = json.loads(next(line for line in ran.text.splitlines() if line.startswith("{")))
    assert (record["request"]["approve"], record["request"]["privacy"]) == ("review", "stats")
    assert record["house_rules"] == rules.read_text().rstrip()
    assert record["house_rules"] in messages(model_server)[-1]["content"]
    assert not rules.with_name("made").exists()
    assert "True" in kernel.run("print(list(df.columns) == ['city', 'n'])").text


def test_a_file_that_cannot_be_told_stops_no_run_and_the_receipt_says_so(
    kernel: Kernel, model_server: ModelServer, rules: Path, tmp_path: Path
) -> None:
    model_server.script(SUM, SUM, SUM)
    os.mkfifo(rules)
    ran = kernel.ask("sum of all")
    assert ran.error == ""
    left_out = "house rules, left out of CODEAGENT.md in the working directory: "
    assert f"{left_out}all of it, because it is not a regular file" in ran.text
    rules.unlink()
    (tmp_path / "secret.txt").write_text("my secret")
    rules.symlink_to(tmp_path / "secret.txt")
    ran = kernel.ask("sum of all")
    assert f"{left_out}all of it, because it is a symbolic link, which is not followed" in ran.text
    assert b"my secret" not in model_server.received
    rules.unlink()
    rules.write_text("\n".join(["Nothing is as it seems to be in this house."] * 40))
    assert f"{left_out}the last 24 lines (" in kernel.ask("sum of all").text
    assert b"House rules" in model_server.received
    assert "left out: the last 24 lines (" in kernel.run("%agent context").text


@pytest.mark.rare("another case of what a test beside it proves")
def test_an_exploration_does_not_use_them(kernel: Kernel, rules: Path) -> None:
    rules.write_text(RULES)
    ran = kernel.run("%agent explore df")
    assert ran.error == ""
    assert "ouse rules" not in f"{ran.text}{kernel.run('%agent show').text}"


def test_a_page_gets_them_with_the_path_of_their_file(kernel: Kernel, rules: Path) -> None:
    page = KernelPage(kernel).open()
    assert page.last("state")["context"]["house_rules"] == []
    rules.write_text(RULES)
    page.run("pass")
    told = [message["context"]["house_rules"] for message in page.heard if message.get("type") == "context"]
    while not (told and told[-1]):  # sent a moment after the cell
        told.append(page.wait_for("context")["context"]["house_rules"])
    assert told[-1] == [{"path": "CODEAGENT.md", "told": TOLD, "tokens": 19, "left_out": ""}]
