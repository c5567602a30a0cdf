"""`jupyter_codeagent.options`: the option line becomes a value, or one clear line of error."""

from __future__ import annotations

import pytest

from jupyter_codeagent.errors import UsageError
from jupyter_codeagent.options import RunOptions, parse_options


def test_an_empty_line_gives_the_defaults() -> None:
    assert parse_options("") == RunOptions()


def test_every_option_of_the_contract_is_understood() -> None:
    options = parse_options(
        "--vars df,sales --model m --base-url http://127.0.0.1:1/v1 --privacy schema --approve ask --max-steps 2 "
        "--timeout 1.5 --candidates 3 --new --return a,b --dry-run --json --rerun --debug"
    )
    assert options == RunOptions(
        variables=("df", "sales"),
        model="m",
        base_url="http://127.0.0.1:1/v1",
        privacy="schema",
        approve="ask",
        max_steps=2,
        timeout_s=1.5,
        candidates=3,
        new=True,
        returns=("a", "b"),
        dry_run=True,
        json=True,
        rerun=True,
        debug=True,
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--aprove ask", "--approve"),
        ("--privacy everything", "'everything'"),
        ("--max-steps 0", "'0'"),
        ("--max-steps many", "'many'"),
        ("--timeout -3", "--timeout"),
        ("--timeout nan", "'nan'"),
        ("--vars 'a b'", "'a b'"),
        ("--vars ,", "','"),
        ("--model", "--model"),
        ("--model 'unclosed", "unclosed"),
        ("surplus", "surplus"),
    ],
)
def test_a_bad_option_is_one_line_that_names_it(line: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_options(line)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
