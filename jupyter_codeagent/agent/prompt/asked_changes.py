"""Find out which of the user's variables a prompt asks to change: ``Add a column speed to flights``.

An order to the data counts, also where a question follows: *remove the duplicates and tell me how many rows are
left*. On a copy alone they would be back in the user's next cell, and nothing would say so. What limits a question
does not count (*without cancelled flights*, *leave that row out*, *after dropping the missing ones*), nor does an
order to display something (*draw*, *show*, *sort*), nor one whose result gets a name of its own (*call it clean*),
nor a question how it is done (*how can I drop duplicates?*).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from jupyter_codeagent.agent.prompt.asked_names import asked_names
from jupyter_codeagent.agent.prompt.task import MAX_READ_CHARS
from jupyter_codeagent.types.variables import LiveNames

_CODE = re.compile(
    r"```|^[ \t]*(?:import \w|from [\w.]+ import |def \w+\(|\w[\w.]*(?:\[.*\])? [-+*/]?= )", re.MULTILINE
)
_SENTENCE = re.compile(r"(?<=[.?!;:])\s+|\n+")
_CLAUSE = re.compile(r"(?:(?<!\s),|(?<![\s,]))\s++(?:and|then|und|dann)\s++|,\s++")
_POLITE = re.compile(
    r"^\W*(?:(?:please|also|then|now|next|first|finally|just|so|ok|okay|(?:can|could|would|will) you|you should|"
    r"(?:i|we) (?:want|need|would like)(?: you)? to|i['’]d like(?: you)? to|let['’]s|make sure to)\W+)*",
    re.IGNORECASE,
)
"""What may stand before an order."""
_ASKS = re.compile(
    r"^\W*(?:how|what|which|who|whose|when|where|why|is|are|was|were|does|do|did|has|have|wie|was|welche\w?|wer|wann|"
    r"wo|warum|gibt|ist|sind)\b",
    re.IGNORECASE,
)

_OF_DATA = re.compile(
    r"(?:rename|drop|delete|remove|fill|impute|replace|clean|deduplicate|overwrite|recode|correct|fix|strip|trim)\b"
    r"(?![- ](?:rate|ratio|off|time|frequency|count|for\b))",
    re.IGNORECASE,
)
"""Orders to the data, unless they speak of what is displayed."""
_OF_COLUMNS = re.compile(
    r"(?:add|insert|append|put|set|reset|assign|store|save|write|convert|change|turn|cast|parse|transform|encode|map|split|"
    r"update|modify|normali[sz]e|standardi[sz]e|scale|cap|clip|mark|flag)\b(?! (?:in|of|from|per|by|up)\b)",
    re.IGNORECASE,
)
"""Orders that are to the data where they speak of columns, values or a variable: *add a legend* is none."""
_MAKES_COLUMN = re.compile(
    r"(?:make|create|build|compute|calculate|derive|generate|define|introduce|(?:i|we) (?:want|need))"
    r"(?: (?:an?|two|three) (?:(?!of|in|with|per|for|by)\w+ )?columns?"
    r"|\b.*?(?:(?<!the )(?<!this )(?<!that )\b(?:new|another|extra|additional) (?:\w+ )?(?:column|feature|field)s?"
    r"|\b(?:column|feature|field)s? (?:called|named)|\b(?:as|into|in) (?:an?|one) (?:\w+ )?column))\b",
    re.IGNORECASE,
)
_COLUMNS = re.compile(
    r"\b(?:columns?|rows?|features?|fields?|values?|dtypes?|types?|datetimes?|dates?|numeric|integers?|floats?|strings?|index|"
    r"missing|nans?|nulls?)\b|[`'\"]\w+[`'\"]|\b\w+_\w+\b",
    re.IGNORECASE,
)
_ADDS_TO = re.compile(
    r"(?:add|append|insert|attach)\b.* to (?:the|each|every|all|this|that|it|them)\b", re.IGNORECASE
)
_DISPLAYED = re.compile(
    r"\b(?:titles?|ax[ie]s|legends?|labels?|grid|lines?|bars?|colou?rs?|charts?|plots?|graphs?|figures?|histograms?|curves?|"
    r"points?|ticks?|markers?|log scale|results?|outputs?|answers?|decimals?|digits)\b",
    re.IGNORECASE,
)
"""Parts of a chart or a result, which are no data of the user's."""
_FOR_GOOD = re.compile(r"\bin[- ]?place\b(?! of)|\bfor good\b|\bpermanently\b|\bdauerhaft\b", re.IGNORECASE)
_GERMAN = re.compile(
    r"\b(?:entfern|l[öo]e?sch|ersetz|bereinig|(?:auf)?f[üu]e?ll|[üu]e?berschreib|korrigier)(?:e|en)\b|\bumbenennen\b"
    r"|\bbenenn\w* .{0,120}\bum\b"
    r"|\b(?:f[üu]e?g|leg|erstell|erzeug|berechn|wandl|konvertier|[äa]e?nder|setz|schreib)\w*\b.{0,120}\bspalten?\b"
    r"|\bspalten?\b.{0,120}\b(?:hinzuf[üu]e?gen|anlegen|einf[üu]e?gen|erstellen|[äa]e?ndern|umwandeln)\b",
    re.IGNORECASE,
)
_GERMAN_LIMIT = re.compile(r"\b(?:ohne|nachdem|wenn|falls)\b", re.IGNORECASE)
_KEPT = re.compile(
    r"\bwithout (?:changing|modifying|touching|overwriting)\b"
    r"|\b(?:do not|don['’]?t|never) (?:change|modify|touch|overwrite)\b|\bnot in[- ]?place\b"
    r"|\b(?:leave|keep) (?!everything else|all else|the rest|the others?|other)[^.;?!]{1,40} "
    r"(?:as (?:it is|they are)|unchanged|untouched|alone)\b"
    r"|\bunver[äa]ndert\b|\bnicht (?:ver)?[äa]ndern\b"
    r"|\b(?:an?|eine[rnm]?) (?:\w+ )?(?:copy|kopie)\b|\b(?:new|separate) (?:table|data ?frame|frame|variable)\b",
    re.IGNORECASE,
)
"""The variable is to stay as it is, or the result to be another one."""
_SAME = re.compile(r"\b(?:the same|do (?:that|it|this)|dasselbe|das gleiche)\b", re.IGNORECASE)


def asked_changes(prompt: str, live: LiveNames, before: str = "") -> frozenset[str]:
    """Return those of the user's variables that the prompt asks to change: all, where it does not say which.

    `before` is the prompt before it, for *do the same with weather*. A prompt with code in it is taken to ask for
    what the code does.
    """
    text, variables = prompt[:MAX_READ_CHARS], frozenset(live.data)
    if _CODE.search(text):
        return variables
    names = asked_names(text)
    asked = variables & frozenset(names)
    orders = list(_orders(text, live))
    if not orders and before and _SAME.search(text):
        orders = [text for _ in _orders(before[:MAX_READ_CHARS], live)]
    if not orders or _KEPT.search(text):
        return asked
    named = frozenset(name for order in orders for name in _targets(order, variables))
    if asked != frozenset(names):  # what is kept under a name of its own changes nothing else
        return asked | frozenset(name for name in named if re.search(rf"\bcolumns? .{{0,120}}\bto {name}\b", text))
    return asked | named or variables


def _orders(text: str, live: LiveNames) -> Iterator[str]:
    """Yield what the text orders to do with data, up to the end of the sentence."""
    for sentence in _SENTENCE.split(text):
        if _FOR_GOOD.search(sentence):
            yield sentence
        if _ASKS.match(sentence):
            continue
        if _GERMAN.search(sentence) and not _GERMAN_LIMIT.search(sentence):
            yield sentence
        starts = (0, *(gap.end() for gap in _CLAUSE.finditer(sentence)))
        for start, end in zip(starts, (*starts[1:], len(sentence)), strict=True):
            polite = _POLITE.match(sentence[start:])
            at = start + (polite.end() if polite is not None else 0)
            if _is_change(sentence[at:end], live):
                yield sentence[at:]


def _is_change(clause: str, live: LiveNames) -> bool:
    if _MAKES_COLUMN.match(clause):
        return True
    if _DISPLAYED.search(clause):
        return False
    if _OF_DATA.match(clause) or _ADDS_TO.match(clause):
        return True
    if not _OF_COLUMNS.match(clause):
        return False
    return bool(_COLUMNS.search(clause)) or _names_one(clause, live.columns) or any(_targets(clause, live.data))


def _names_one(clause: str, labels: Collection[str]) -> bool:
    """Check for a label as it is written: ``set n to zero``."""
    return any(label in clause and re.search(rf"(?<!\w){re.escape(label)}(?!\w)", clause) for label in labels)


def _targets(order: str, variables: Collection[str]) -> Iterator[str]:
    """Yield the variables that the order names as what it changes: ``to flights``, ``in flights and weather``."""
    if not variables:
        return
    one = f"(?:{'|'.join(map(re.escape, sorted(variables, key=len, reverse=True)))})"
    place = rf"(?:to|in|into|of|on|zu|aus|{'from|' if _OF_DATA.match(order) else ''}^\w+)"
    for found in re.finditer(rf"(?<!\w){place}\s+(?:the\s+)?({one}\b(?:(?:,| and| und)+\s+{one}\b)*)", order):
        yield from re.findall(one, found[1])
