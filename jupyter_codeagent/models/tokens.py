"""How many tokens a text has: counted by the model's own tokenizer where a server of this user's offers it.

Nothing goes to another machine or another user for counting, and no server is started for it.
"""

from __future__ import annotations

import http.client
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from jupyter_codeagent.models.admission import is_own_server
from jupyter_codeagent.models.embedded.launcher import running_embedded
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.parsing import parse_token_count
from jupyter_codeagent.models.simple_http import NotConnectedError, http_request
from jupyter_codeagent.types.errors import ModelError

TIMEOUT_S = 1.0
"""A tokenizer answers within milliseconds; whoever does not is not worth waiting for."""
NOT_OFFERED = (400, 403, 404, 405, 415, 422, 501)
"""Answers of servers that have no such address, or another request there; they are not asked again."""

# Digits stand alone, a word has a token for each seven letters, runs of punctuation are one, and so is a letter of
# another script. Against Qwen2.5's tokenizer over variable lines of 15 public tables: 0.8 to 1.1, median 1.0.
_PIECE = re.compile(r"\d|_?[A-Za-z]{1,7}|[^\x00-\x7f]|[!-/:-@\[-^`{-~]+|_|\n| (?=[\d-])")


@dataclass(frozen=True, kw_only=True)
class TokenCount:
    """Tokens of a text, and whether the model's own tokenizer has counted them."""

    tokens: int
    counted: bool
    asked: bool = False
    """The text was sent to a tokenizer, whether it answered or not."""

    def __str__(self) -> str:
        if self.counted:
            return f"{self.tokens} tokens, counted by the model's tokenizer"
        return f"about {self.tokens} tokens, estimated"


@dataclass(frozen=True, kw_only=True)
class Tokenizer:
    """Where the model's own tokenizer can be asked."""

    url: str
    """``http://127.0.0.1:8080``, without ``/v1``."""
    model: str
    api_key: str = field(default="", repr=False)


def estimate_tokens(text: str) -> int:
    """Tokens of a text without its tokenizer; at least one for any text that is not empty."""
    return max(len(_PIECE.findall(text)), 1 if text else 0)


class TokenCounter:
    """Remembers, for each model, how its tokenizer differs from the estimate, and who has none. Blocks shortly."""

    def __init__(self) -> None:
        self._factors: dict[Tokenizer, float] = {}
        self._unsupported: set[Tokenizer] = set()

    def count(self, text: str, tokenizer: Tokenizer | None, *, calibrate: bool = False) -> TokenCount:
        """By the tokenizer if there is one that answers, else estimated; never raises.

        `calibrate` says that the text is of the kind that `estimator` is for.
        """
        estimated = estimate_tokens(text)
        if tokenizer is None or tokenizer in self._unsupported or not text:
            return TokenCount(tokens=estimated, counted=False)
        try:
            tokens = ask_tokenizer(tokenizer, text)
        except TokenizerError as error:
            if error.status in NOT_OFFERED:
                self._unsupported.add(tokenizer)
            tokens = math.ceil(estimated * self.factor(tokenizer))
            return TokenCount(tokens=tokens, counted=False, asked=error.was_sent)
        if calibrate:
            self._factors[tokenizer] = tokens / estimated
        return TokenCount(tokens=tokens, counted=True, asked=True)

    def factor(self, tokenizer: Tokenizer | None) -> float:
        """Tokens for each estimated one, as last counted; 1 where nothing was."""
        return self._factors.get(tokenizer, 1.0) if tokenizer is not None else 1.0

    def estimator(self, tokenizer: Tokenizer | None) -> Callable[[str], int]:
        """Estimates with what was learned of the tokenizer: hundreds of lines cost no request."""
        factor = self.factor(tokenizer)
        return lambda text: math.ceil(estimate_tokens(text) * factor)


class TokenizerError(Exception):
    """No count came back; counting falls back to the estimate, so this never reaches the user."""

    def __init__(self, reason: str, status: int = 0, *, was_sent: bool = True) -> None:
        super().__init__(reason)
        self.status = status
        self.was_sent = was_sent
        """Whether the text has left; not where there was no connection."""


def find_tokenizer(endpoint: ModelEndpoint, *, sends: bool = True) -> Tokenizer | None:
    """Of this user's own server on this machine, or of the embedded one if it runs; None for any other.

    Text goes there that nobody has asked to be sent: no other user's server, not even root's, gets it for counting.
    Where nothing may be sent at all only the embedded one counts. Sends nothing itself.
    """
    if sends and is_own_server(endpoint):
        url = endpoint.base_url.rstrip("/").removesuffix("/v1")
        return Tokenizer(url=url, model=endpoint.model, api_key=endpoint.api_key)
    if endpoint.kind == "embedded" and (server := running_embedded(endpoint.model)) is not None:
        return Tokenizer(url=server.base_url.removesuffix("/v1"), model=server.model, api_key=server.api_key)
    return None


def ask_tokenizer(tokenizer: Tokenizer, text: str) -> int:
    """``POST /tokenize`` of llama.cpp and of vLLM, in one request that both understand. Blocks `TIMEOUT_S` at most.

    Raises
    ------
    TokenizerError
        It does not answer in time, or with something else.
    """
    # llama.cpp reads `content`, vLLM `model` and `prompt`; each ignores the other's. Neither adds a first token.
    body = {"content": text, "model": tokenizer.model, "prompt": text, "add_special_tokens": False}
    try:
        answer = http_request(
            f"{tokenizer.url}/tokenize",
            api_key=tokenizer.api_key,
            json_body=json.dumps(body).encode(),
            timeout_s=TIMEOUT_S,
        )
    except (OSError, ValueError, http.client.HTTPException, ModelError) as error:
        was_sent = not isinstance(error, (NotConnectedError, ModelError))
        raise TokenizerError(str(error), was_sent=was_sent) from error
    if answer.status != 200:
        raise TokenizerError(f"status {answer.status}", answer.status)
    tokens = parse_token_count(answer.body, text)
    if tokens is None:
        raise TokenizerError("no count")
    return tokens
