"""A one-line prompt may end with a question mark; IPython's own help stays what it was."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from jupyter_codeagent.entrypoints.question_mark import QuestionMarks


@pytest.fixture
def manager() -> TransformerManager:
    manager = TransformerManager()
    manager.cleanup_transforms.insert(0, QuestionMarks(SimpleNamespace(input_transformer_manager=manager)))
    return manager


@pytest.mark.parametrize(
    ("cell", "prompt"),
    [
        ("%agent why are flights late?", "why are flights late?"),
        ('x = 1\n%agent it\'s "late", why??\n', 'it\'s "late", why??'),
        ("%agent context which carriers?", "context which carriers?"),
    ],
)
def test_a_one_line_question_reaches_the_agent_whole(cell: str, prompt: str, manager: TransformerManager) -> None:
    assert f"get_ipython().run_line_magic('agent', {prompt!r})" in manager.transform_cell(cell)


def test_a_question_within_an_if_keeps_its_place(manager: TransformerManager) -> None:
    code = manager.transform_cell("if True:\n    %agent why?\n")
    assert code.splitlines()[1] == "    get_ipython().run_line_magic('agent', 'why?')"


@pytest.mark.parametrize(
    "cell", ["len?", "x = 1\nlen?", "%agent?", "%%agent\nwhy?", "text = '''\n%agent why?\n'''\n", "%time x?"]
)
def test_everything_else_is_what_it_was(cell: str, manager: TransformerManager) -> None:
    assert manager.transform_cell(cell) == TransformerManager().transform_cell(cell)
