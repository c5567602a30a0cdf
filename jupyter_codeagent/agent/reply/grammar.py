"""A grammar for the retry after a reply without a readable program: the model can write nothing but code.

In GBNF, which llama.cpp reads: each rule on one line, no large repetition counts. The grammar distinguishes
only brackets, strings and comments from other characters, so that every Python program passes, while prose with
an apostrophe, an unclosed bracket or a reply without its block do not. It allows no sentence in front of the
block: a model that has just written prose continues with it up to its token limit. The first call goes without
it, because it does not improve what the program does. Its cost is small: llama.cpp tries other tokens only
where the first is refused.
"""

from __future__ import annotations

from jupyter_codeagent.agent.reply.extract import extract_code
from jupyter_codeagent.types.run import Step

_PROGRAM = r"""
line ::= part* comment? "\n"
part ::= [^()\[\]{}"'#`\n] | string | group
group ::= "(" inner* ")" | "[" inner* "]" | "{" inner* "}"
inner ::= [^()\[\]{}"'#`] | string | group | comment "\n"
comment ::= "#" [^\n]*
string ::= double | single | longdouble | longsingle
double ::= "\"" ([^"\\\n] | escape)* "\""
single ::= "'" ([^'\\\n] | escape)* "'"
longdouble ::= "\"\"\"" (("\"" "\""?)? ([^"\\] | escape))* "\"\"\""
longsingle ::= "'''" (("'" "'"?)? ([^'\\] | escape))* "'''"
escape ::= "\\" ([^\n] | "\n")
"""
_CONTINUED = 'root ::= line+ "```"'
_WHOLE = r'root ::= "```python\n" line+ "```"'


def grammar_after(step: Step | None, *, prefilled: bool) -> str:
    """Return the grammar for the call after `step`; empty if that step had a program.

    `prefilled`: the reply is prefilled with the opening fence, and the grammar holds for what follows.
    """
    if step is None or step.code or not step.reply or not extract_code(step.reply).problem:
        return ""
    return (_CONTINUED if prefilled else _WHOLE) + _PROGRAM
