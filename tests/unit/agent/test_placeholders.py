"""Strings that were meant to be f-strings; and those that were not."""

from __future__ import annotations

import pytest
from rule_calls import correct, fixed, issue_of

from jupyter_codeagent.agent.rules.placeholders import fill_placeholders
from jupyter_codeagent.types.sandbox import ExecutionResult, StreamOutput


@pytest.mark.parametrize(
    ("code", "filled"),
    [
        ('m = 2\nprint("Mean: {m:.2f}")', 'm = 2\nprint(f"Mean: {m:.2f}")'),
        ("m = 2\nprint('Mean:', '{m}')", "m = 2\nprint('Mean:', f'{m}')"),
        ("print('{len(df)} rows of {df.shape[0]:,}')", "print(f'{len(df)} rows of {df.shape[0]:,}')"),
        ("""print("Mean: {df['a'].mean():>8.1%}")""", """print(f"Mean: {df['a'].mean():>8.1%}")"""),
        ('t = 3\nprint("Total: ${t:,.2f}")', 't = 3\nprint(f"Total: ${t:,.2f}")'),
        ('a = b = 1\nprint("${a:.2f} to ${b:.2f}")', 'a = b = 1\nprint(f"${a:.2f} to ${b:.2f}")'),
        ("m = 2\nprint('a {m}' + ' b {m}')", "m = 2\nprint(f'a {m}' + f' b {m}')"),
        ('m = 2\nprint("no braces "\n      "ü {m}")', 'm = 2\nprint("no braces "\n      f"ü {m}")'),
        ('m = 2\nprint(r"\\d {m}")', 'm = 2\nprint(fr"\\d {m}")'),
        ("for day in days:\n    print('{day:%Y-%m}')", "for day in days:\n    print(f'{day:%Y-%m}')"),
        ("r = 1\nplt.title('r = {r:.2f}')", "r = 1\nplt.title(f'r = {r:.2f}')"),
        ("r = 1\nax.set_title('r = {r}')", "r = 1\nax.set_title(f'r = {r}')"),
        ("def f(n):\n    print('{n} rows')", "def f(n):\n    print(f'{n} rows')"),
    ],
)
def test_a_shown_string_with_a_name_in_braces_becomes_an_f_string(code: str, filled: str) -> None:
    assert fixed(fill_placeholders, code, copied={"df"}) == filled


@pytest.mark.parametrize(
    "code",
    [
        'm = 2\nprint(f"Mean: {m}")',
        'm = 2\nprint("Mean: {}".format(m))',
        'm = 2\nprint("Mean: {m}".format(m=m))',
        'm = 2\ntext = "Mean: {m}"\nprint(text.format(m=m))',
        'm = 2\nprint("Mean: {m}".replace("{m}", str(m)))',
        'print("Mean: {unknown:.2f}")',
        'm = 2\nprint("Mean: {m} of {unknown}")',
        "a = 1\nprint(\"{'a': 1}\")",
        'a = 1\nprint("{a: 1, b: 2}")',
        'a = 1\nprint("{a, b}")',
        'a = 1\nprint("{ a }")',
        'm = 2\nprint("{{m}}")',
        'm = 2\nprint("{0} {m}")',
        'm = 2\nprint("{} {m}")',
        'm = 2\nprint("a {m" "b}")',
        'n = 2\nprint("x_{n}")',
        'n = 2\nprint("x^{n}")',
        'n = 2\nprint(r"\\frac{n}{n}")',
        'n = 2\nplt.title("$a {n} b$")',
        "x = 2\nax.xaxis.set_major_formatter('{x:.0f}')",
        "x = 2\nFormatter('{x:.0f}')",
        "x = 2\ndf.style.format('{x:.2f}')",
        "y = 2\nfig.update_traces(texttemplate='%{y:.2f}')",
        'n = 2\nre.findall("a{n}", text)',
        'n = 2\ntemplate = "{n}"',
        'n = 2\nprint("{n}", file=handle)',
        'total = sum(x for x in df.a)\nprint("{x}")',
        'n = 2\nprint(b"{n}")',
        'print("{len}")',
        "print('{')",
    ],
)
def test_other_braces_are_left_alone(code: str) -> None:
    assert fixed(fill_placeholders, code, copied={"df"}) == code


def test_what_was_filled_is_noted_with_its_line() -> None:
    prepared = correct('m = df.a.mean()\nprint("Mean: {m:.2f}")', copied=["df"])
    assert prepared.code.endswith('print(f"Mean: {m:.2f}")')
    assert prepared.notes == ("line 2: {…} is filled in (f-string)",)


def test_a_name_of_the_notebook_counts_as_well() -> None:
    assert correct("print('{rate} percent')", defined=["rate"]).code == "print(f'{rate} percent')"
    assert correct("print('{rate} percent')").code == "print('{rate} percent')"


def printed(text: str) -> ExecutionResult:
    return ExecutionResult(status="ok", outputs=(StreamOutput(output_type="stream", name="stdout", text=text),))


@pytest.mark.parametrize(
    ("code", "text", "placeholder"),
    [
        ("text = 'Mean: {m:.2f}'\nprint(text)", "Mean: {m:.2f}", "{m:.2f}"),
        ("text = 'Rows: {len(df):,d}'\nprint(text)", "Rows: {len(df):,d}", "{len(df):,d}"),
        ("print('Mean: [value]')", "Mean: [value]", "[value]"),
        ("print('Mean = <your answer>')", "Mean = <your answer>", "<your answer>"),
        ("print('Mean: <calculated mean here>')", "Mean: <calculated mean here>", "<calculated mean here>"),
    ],
)
def test_a_placeholder_that_the_code_printed_is_noticed(code: str, text: str, placeholder: str) -> None:
    assert placeholder in issue_of(printed(text), code)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("print(df.template[0])", "Mean: {m:.2f}"),
        ("print(df.answer)", "Mean: [value]"),
        ("print('Mean: [value]'.replace('[value]', '3'))", "Mean: 3"),
        ("print('{m:.2f}'.format(m=1)); print('{m:.2f}')", "Mean: {m:.2f}"),
        ("print({'a': 1.5})", "{'a': 1.5}"),
        ("print('[Result]', 5)", "[Result] 5"),
        ("print('Names:', ['mean'])", "Names: ['mean']"),
        ("print('{a: 1}')", "{a: 1}"),
    ],
)
def test_text_that_looks_like_a_placeholder_passes(code: str, text: str) -> None:
    assert issue_of(printed(text), code) == ""
