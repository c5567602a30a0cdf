"""`jupyter_codeagent.entrypoints.options`: the option line becomes a value, or one clear line of error."""

from __future__ import annotations

import pytest

from jupyter_codeagent.entrypoints.options import parse_options
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.options import RunOptions, selection_line


def test_an_empty_line_gives_the_defaults() -> None:
    assert parse_options("") == RunOptions()


def test_every_option_is_understood() -> None:
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
        ("--max-steps ²", "'²'"),
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


@pytest.mark.parametrize(
    ("line", "variables", "columns"),
    [
        ("--vars flights,planes", ("flights", "planes"), {}),
        ('--vars "flights[origin,dep_delay],planes"', ("flights", "planes"), {"flights": ("origin", "dep_delay")}),
        ("""--vars "flights['dep delay', origin]" """, ("flights",), {"flights": ("dep delay", "origin")}),
        ("""--vars 'f["a,b"],g[c d]'""", ("f", "g"), {"f": ("a,b",), "g": ("c d",)}),
        ('--vars "f[2013]"', ("f",), {"f": ("2013",)}),
    ],
)
def test_columns_of_a_frame_are_named_in_brackets(
    line: str, variables: tuple[str, ...], columns: dict[str, tuple[str, ...]]
) -> None:
    options = parse_options(line)
    assert (options.variables, dict(options.columns)) == (variables, columns)


def test_a_sample_and_a_condition_are_options() -> None:
    options = parse_options("""--sample 100000 --where "dep_delay > 60 and origin == 'JFK'" """)
    assert (options.sample, options.where) == (100_000, "dep_delay > 60 and origin == 'JFK'")


@pytest.mark.parametrize("text", ["a[", "a]", "a[]", "a[b]c", "a[b],a[c]", "1a", "a[b][c]", "a.b", "a['b]"])
def test_a_list_of_variables_that_cannot_be_read_is_told_as_it_was_written(text: str) -> None:
    with pytest.raises(UsageError, match="--vars"):
        parse_options(f'--vars "{text}"')


@pytest.mark.parametrize(
    "line",
    [
        "",
        "--vars df",
        "--vars \"df[a,'unit cost',b],sales\" --sample 20",
        "--where 'name == \"it\" and a > 1' --vars df",
        """--vars 'df["it'"'"'s","a,b"]'""",
    ],
)
def test_which_data_was_asked_about_is_recorded_so_that_it_can_be_asked_again(line: str) -> None:
    options = parse_options(line)
    assert parse_options(selection_line(options)) == options
    assert "\n" not in selection_line(options)


def test_the_record_of_the_selection_leaves_out_model_address_and_limits() -> None:
    options = parse_options("--model m --base-url http://u:secret@h/v1 --approve auto --vars df --new --timeout 5")
    assert selection_line(options) == "--vars df"
