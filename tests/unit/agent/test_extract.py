"""Replies as models write them (own text), and the code that must come out."""

from __future__ import annotations

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.agent.reply.extract import MAX_PROSE_CHARS, NO_CODE, extract_code, is_program_complete

CODE = "total = df['fare'].sum()\nprint(total)"

FOUND: dict[str, tuple[str, str]] = {
    "a plain fence": (f"I add up the fares.\n```python\n{CODE}\n```", CODE),
    "an upper-case label": (f"```Python\n{CODE}\n```", CODE),
    "a short label": (f"```py\n{CODE}\n```", CODE),
    "no label": (f"```\n{CODE}\n```", CODE),
    "a label in braces": (f"```{{python}}\n{CODE}\n```", CODE),
    "tildes": (f"~~~python\n{CODE}\n~~~", CODE),
    "a longer fence": (f"````python\n{CODE}\n````", CODE),
    "a fence that is never closed": (f"Here it is:\n```python\n{CODE}", CODE),
    "an indented fence": ("1. Add up:\n   ```python\n   total = df['fare'].sum()\n   print(total)\n   ```", CODE),
    "a fence at the end of a sentence": (f"The code: ```python\n{CODE}\n```", CODE),
    "a one-line fence": ("```python print(total)```", "print(total)"),
    "a closing fence behind the code": (f"```python\n{CODE}```", CODE),
    "Windows line ends": (f"```python\n{CODE}\n```".replace("\n", "\r\n"), CODE),
    "a byte-order mark and zero-width blanks": (f"```python\n\ufeff{CODE}\u200b\n```", CODE),
    "no-break blanks": ("```python\nif x:\n\u00a0\u00a0\u00a0\u00a0print(x)\n```", "if x:\n    print(x)"),
    "typographic quotes": ("```python\nprint(“total”)\n```", 'print("total")'),
    "typographic quotes inside a string stay": ("```python\nprint('it’s')\n```", "print('it’s')"),
    "thoughts first": (f"<think>\nmaybe ```python\nwrong()\n```\n</think>\n```python\n{CODE}\n```", CODE),
    "thoughts whose beginning the server ate": (f"let me see\n</think>\n```python\n{CODE}\n```", CODE),
    "two blocks": ("```python\na = 1\n```\nThen:\n```python\nprint(a)\n```", "a = 1\n\nprint(a)"),
    "the same block twice": (f"```python\n{CODE}\n```\nAgain:\n```python\n{CODE}\n```", CODE),
    "an output block between": (f"```python\n{CODE}\n```\n```output\n42\n```\n```python\nprint(42)\n```", CODE),
    "an invented output": (f"```python\n{CODE}\n```\nOutput:\n42\n```python\nprint(42)\n```", CODE),
    "a bold invented output": (f"```python\n{CODE}\n```\n**Output:**\n```python\nprint(42)\n```", CODE),
    "an alternative": (f"```python\n{CODE}\n```\nAlternatively:\n```python\nother()\n```", CODE),
    "an installation first": (f"```bash\npip install pandas\n```\n```python\n{CODE}\n```", CODE),
    "JSON first": (f'```json\n{{"a": 1}}\n```\n```python\n{CODE}\n```', CODE),
    "an unlabelled table behind": (f"```python\n{CODE}\n```\nIt prints\n```\n  x  y\n0 1 2\n```", CODE),
    "a block reopened instead of closed": (f"```python\n{CODE}\n```python\nEND SOLUTION\n```", CODE),
    "code tags": (f"<code>\n{CODE}\n</code>", CODE),
    "tags with attributes": (f'<execute_python id="1">\n{CODE}\n</execute_python>', CODE),
    "a torn closing tag": (f"<code>\n{CODE}\n</code", CODE),
    "a stray closing tag": (f"{CODE}\n</code>", CODE),
    "tags inside a fence": (f"```python\n<code>\n{CODE}\n</code>\n```", CODE),
    "a template's end mark": (f"```python\n{CODE}\n```<|im_end|>", CODE),
    "a JSON member": (json.dumps({"thought": "add up", "code": CODE}), CODE),
    "a tool call": (f"<tool_call>{json.dumps({'name': 'run', 'arguments': {'code': CODE}})}</tool_call>", CODE),
    "a tool call with text arguments": (json.dumps({"arguments": json.dumps({"code": CODE})}), CODE),
    "no fence at all": (CODE, CODE),
    "code between sentences": (f"Sure, this adds the fares up:\n\n{CODE}\n\nThat is all.", CODE),
    "prompts of a session": (
        ">>> a = 1\n>>> for i in range(2):\n...     a += i\n>>> a\n1",
        "a = 1\nfor i in range(2):\n    a += i\na",
    ),
    "input numbers": ("```python\nIn [1]: a = 1\nIn [2]: a\nOut[2]: 1\n```", "a = 1\na"),
    "a sentence inside the fence": (f"```python\nHere is the code that you need:\n{CODE}\n```", CODE),
    "the plotting magic": (f"```python\n%matplotlib inline\n{CODE}\n```", CODE),
    "fences within a docstring": (
        "```python\ndef f():\n    '''Use:\n```\nf()\n```\n    '''\n    return 1\nf()\n```",
        "def f():\n    '''Use:\n```\nf()\n```\n    '''\n    return 1\nf()",
    ),
    "the line of the prefill": (f"```python\n# df, rates are already loaded\n{CODE}\n", CODE),
    "a lone name in a fence": ("```python\ndf\n```", "df"),
    "an indented beginning": (
        "```python\n    fares = df['fare']\n    a = 1\nprint(fares)\n```",
        "fares = df['fare']\na = 1\nprint(fares)",
    ),
    "the body of a function and calls of it": (
        "```python\n    fares = df['fare']\n    return fares.sum()\n# how to use it:\nprint(total(df))\n```",
        "fares = df['fare']\nreturn fares.sum()",
    ),
    "a bare body of a function and calls of it": (
        "\n    fares = df['fare']\n    return fares.sum()\n\nprint(total(df))\n",
        "fares = df['fare']\nreturn fares.sum()",
    ),
    "a tag closed that the question opened, and another": (
        f"{CODE}\n</code>\nThen:\n<code>\nprint(1)\n</code>",
        f"{CODE}\n\nprint(1)",
    ),
    "a closing tag inside a string": (
        "<code>\ntitle = '<b>Fare</b>'\nprint(title)\n</code>",
        "title = '<b>Fare</b>'\nprint(title)",
    ),
    "a one-line tag": ("Here it is: <code>print(total)</code>", "print(total)"),
    "a version behind the label": (f"```Python 3\n{CODE}\n```", CODE),
    "an odd label": (f"```pandas\n{CODE}\n```", CODE),
    "a call within a message": (
        json.dumps({"tool_calls": [{"function": {"name": "run", "arguments": json.dumps({"code": CODE})}}]}),
        CODE,
    ),
    "a call behind a block that was begun for the model": (
        f"```python\n# df is already loaded\n\n<tool_call>\n{json.dumps({'code': CODE})}",
        CODE,
    ),
    "steps in JSON": (
        json.dumps({"steps": [{"code": "a = f(1)"}, {"code": "print(a)"}]}),
        "a = f(1)\n\nprint(a)",
    ),
    "escaped prompts": ("```python\n&gt;&gt;&gt; a = f(1)\n&gt;&gt;&gt; print(a)\n1\n```", "a = f(1)\nprint(a)"),
    "an entity in a string": ("```python\nprint('&gt;')\n```", "print('&gt;')"),
    "a tag of reasoning in a string": (
        "```python\ntext = text.replace('</think>', '')\n```",
        "text = text.replace('</think>', '')",
    ),
    "reasoning that ends in a quote": (f'<think>\nthe user said "total"</think>\n```python\n{CODE}\n```', CODE),
    "a column named in a tag": (
        f"The <code>fare</code> column holds it.\n<code>\n{CODE}\n</code>",
        CODE,
    ),
    "sentences with brackets around": (
        f"The sum (of all fares), as asked for:\n\n{CODE}\n\nIt is 1,200 (or so).",
        CODE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_code_is_found_in(name: str) -> None:
    reply, code = FOUND[name]
    found = extract_code(reply)
    assert found.code == code
    assert found.problem == ""


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "the reply is empty"),
        ("Done", "no code in the reply"),
        ("The mean fare is higher for first class.", "no code in the reply"),
        ("Note: none", "no code in the reply"),
        ("The <code>fare</code> column holds what each paid.", "no code in the reply"),
        ("Use <code>df.drop()</code> with care.", "no code in the reply"),
        ("<think>\nfirst I would", "before its reasoning did"),
        ("```python\n!pip install plotly\nimport plotly\n```", "'!pip install plotly' is a notebook command"),
        ("```python\n%timeit f()\n```", "'%timeit f()' is a notebook command"),
        ("```python\nprint(df.groupby('a'\n```", "SyntaxError at line 1"),
        ("```python\nx = 1\nfor y in x\n    print(y)\n```", "SyntaxError at line 2: expected ':': for y in x"),
    ],
)
def test_a_reply_without_usable_code_says_why(reply: str, problem: str) -> None:
    found = extract_code(reply)
    assert found.code == ""
    assert problem in found.problem


def test_a_part_of_a_broken_block_never_runs_on_its_own() -> None:
    assert extract_code("```python\nimport os\nfiles = [\nprint('x')\n```").code == ""


@pytest.mark.parametrize(
    "reply",
    [
        "fares = df['fare']\nprint(fares.mean())\nwide = df.pivot(index='class', columns=",
        "def load(path):\n    return path\n\nfor path in paths\n    load(path)\n",
        "<code>\nfares = [\nprint('x')\n</code>",
        "<code>\nfares = df['fare'\n</code>\nThen:\n<code>\nprint(fares)\n</code>",
        "fares = df['fare'\n</code>\nThen:\n<code>\nprint(fares)\n</code>",
        "    fares = df['fare'\n    return fares\n\nprint(total(df))\n",
        "First:\n\na = 1\nb = 2\n\nThen:\n\nprint(a + b)\n",
    ],
)
def test_half_a_program_never_runs_on_its_own(reply: str) -> None:
    found = extract_code(reply)
    assert found.code == ""
    assert found.problem.startswith("SyntaxError at line")


@pytest.mark.parametrize(
    ("reply", "form"),
    [
        (f"```python\n{CODE}\n```", "fence"),
        (f"<code>\n{CODE}\n</code>", "tag"),
        (json.dumps({"code": CODE}), "json"),
        ("```python\n# df is already loaded\n# a = df['x'].sum()\n# print(a)\n```", "comments"),
        (CODE, "text"),
        (f"sure, here it is:\n{CODE}", "part"),
        ("Done", ""),
    ],
)
def test_the_form_in_which_code_was_found_is_told(reply: str, form: str) -> None:
    assert extract_code(reply).form == form


@pytest.mark.parametrize(
    ("comments", "code"),
    [
        ("# df is already loaded\n# a = df['x'].sum()\n# print(a)", "a = df['x'].sum()\nprint(a)"),
        ("# for x in y:\n#     print(x)", "for x in y:\n    print(x)"),
        ("# df is already loaded\n# total\n# mean price", ""),
        ("# 1. the mean\n# print(a)", ""),
        ("# df.head()\nx = 1", "# df.head()\nx = 1"),
    ],
)
def test_a_program_that_stands_in_comments_is_taken_out_of_them(comments: str, code: str) -> None:
    assert extract_code(f"```python\n{comments}\n```").code == code


WRONG = "print(df['price'].sum())"


@pytest.mark.parametrize(
    ("between", "first", "second", "code"),
    [
        ("Wait, there is no `price`. Corrected:", WRONG, CODE, CODE),
        ("Let me fix that:", WRONG, CODE, CODE),
        ("Full code:", "total = 1", CODE, CODE),
        ("Let me fix the order:", "a = f(df)", "print(sorted(a))", "a = f(df)\n\nprint(sorted(a))"),
        ("Corrected code:", "df['x'] = 1", "print(df['x'])", "df['x'] = 1\n\nprint(df['x'])"),
        ("Corrected code:", "df['x'] = bad", "df['x'] = 1\nprint(df)", "df['x'] = 1\nprint(df)"),
        ("The first line is:", CODE, "total = df['fare'].sum()", CODE),
    ],
)
def test_a_block_written_anew_replaces_what_it_does_not_need(
    between: str, first: str, second: str, code: str
) -> None:
    assert extract_code(f"```python\n{first}\n```\n{between}\n```python\n{second}\n```").code == code


def test_a_replaced_block_is_told() -> None:
    found = extract_code(f"```python\n{WRONG}\n```\nCorrected:\n```python\n{CODE}\n```")
    assert found.notes == ("left out of the reply: block 1 (block 2 is written in its place)",)


@pytest.mark.parametrize(
    "reply",
    [
        "<|channel|>analysis<|message|>```python\nx = f()\n```",
        "<|channel>thought\n```python\nx = f()\n```",
    ],
)
def test_reasoning_in_a_channel_is_never_read_for_code(reply: str) -> None:
    assert "before its reasoning did" in extract_code(reply).problem


@pytest.mark.parametrize(
    "reply",
    [
        '{"code": "US"}',
        '{"rows": [{"code": "US"}, {"code": "CH"}]}',
        '"The mean is higher."',
        "```diff\n@@ -3,2 +3,2 @@\n-a = f(1)\n+a = f(2)\n```",
    ],
)
def test_data_and_parts_are_no_program(reply: str) -> None:
    assert extract_code(reply).code == ""


def test_prose_is_what_stands_outside_the_code() -> None:
    assert extract_code(f"I add up.\n```python\n{CODE}\n```\nDone.").prose == "I add up.\nDone."


PROSE = "It adds up what each passenger has paid, and shows the sum of it. " * 5


def test_a_program_is_complete_when_so_much_follows_its_block_that_no_other_one_does() -> None:
    reply = f"I add up.\n```python\n{CODE}\n```\n"
    complete = [end for end in range(len(reply + PROSE)) if is_program_complete((reply + PROSE)[:end])]
    assert complete == list(range(len(reply) + MAX_PROSE_CHARS + 1, len(reply + PROSE)))


def test_a_program_is_complete_at_once_where_an_alternative_to_it_begins() -> None:
    assert is_program_complete(f"```python\n{CODE}\n```\n\nAlternative")


def test_a_program_whose_next_block_has_begun_is_not_complete() -> None:
    reply = f"```python\n{CODE}\n```\nThen count:\n```python\n" + "x = 1\n" * 100
    assert not is_program_complete(reply)
    assert is_program_complete(f"{reply}```\n{PROSE}")


@pytest.mark.parametrize(
    "text",
    [
        "```python\n```",
        "```python\n# nothing yet\n```",
        "```python\ndef f():\n    '''\n```\n",
        "  ```python\n  x = 1\n  ```",
        "```bash\nls\n```",
        "```python\nx = = 1\n```",
        "<think>\nmaybe\n```python\nx = 1\n```",
        "no code",
    ],
)
def test_a_program_is_not_complete_whatever_follows(text: str) -> None:
    assert not is_program_complete(f"{text}\n{PROSE}")


@given(st.text(alphabet="`~a1(=\n \"'<>/{}:#%!x", max_size=60))
def test_whatever_comes_out_of_any_reply_is_python(reply: str) -> None:
    found = extract_code(reply)
    ast.parse(found.code)
    assert bool(found.code) != bool(found.problem)


@pytest.mark.parametrize(
    "reply", ["I cannot do that (there is no such data).", "There is no df['x'], so x = 1 is a guess: I cannot."]
)
def test_a_sentence_with_brackets_is_no_broken_program(reply: str) -> None:
    assert extract_code(reply).problem == NO_CODE


def test_a_program_that_breaks_off_is_a_broken_program() -> None:
    assert extract_code("total = df[\nprint(").problem.startswith("SyntaxError")
