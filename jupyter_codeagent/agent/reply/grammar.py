"""After a reply in which no program could be read: a grammar that lets the model write nothing else.

In GBNF, which llama.cpp reads: each rule on one line, no large repetition counts. Only brackets, strings and
comments are told from other characters, so that every Python program passes, while prose with an apostrophe, an
unclosed bracket or a reply without its block do not. No sentence in front of the block: a model that has just
written prose goes on with it up to its limit of tokens. Not used from the start, because it says nothing about what
the program does. What it costs is small: llama.cpp looks at other tokens only where the first is refused.
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
    """For the call after `step`; empty where that had a program, whatever came of it.

    `prefilled`: the opening fence is written already, and what the grammar holds for comes behind it.
    """
    if step is None or step.code or not step.reply or not extract_code(step.reply).problem:
        return ""
    return (_CONTINUED if prefilled else _WHOLE) + _PROGRAM
