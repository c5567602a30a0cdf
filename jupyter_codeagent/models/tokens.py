"""Token counts of texts, from the model's own tokenizer if a server of this user offers it.

Nothing is sent to another machine or another user for counting, and no server is started for it.
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
"""A tokenizer answers within milliseconds; a slower one is not worth waiting for."""
NOT_OFFERED = (400, 403, 404, 405, 415, 422, 501)
"""Status codes of servers without this endpoint, or with a different request; they are not asked again."""

# One token per digit, per seven letters of a word, per run of punctuation and per letter of another script.
# Compared with Qwen2.5's tokenizer on variable lines of 15 public tables: 0.8 to 1.1, median 1.0.
_PIECE = re.compile(r"\d|_?[A-Za-z]{1,7}|[^\x00-\x7f]|[!-/:-@\[-^`{-~]+|_|\n| (?=[\d-])")


@dataclass(frozen=True, kw_only=True)
class TokenCount:
    """Number of tokens of a text, counted by the model's own tokenizer or estimated."""

    tokens: int
    counted: bool
    asked: bool = False
    """Whether the text was sent to a tokenizer, answered or not."""

    def __str__(self) -> str:
        if self.counted:
            return f"{self.tokens} tokens, counted by the model's tokenizer"
        return f"about {self.tokens} tokens, estimated"


@dataclass(frozen=True, kw_only=True)
class Tokenizer:
    """Server with the model's own tokenizer."""

    url: str
    """``http://127.0.0.1:8080``, without ``/v1``."""
    model: str
    api_key: str = field(default="", repr=False)
    socket_path: str = ""
    """Unix socket in place of the URL's host and port."""


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text without a tokenizer; at least one for any text that is not empty."""
    return max(len(_PIECE.findall(text)), 1 if text else 0)


class TokenCounter:
    """Counter that learns each tokenizer's deviation from the estimate, and which servers have none.

    Its methods block for a short time.
    """

    def __init__(self) -> None:
        self._factors: dict[Tokenizer, float] = {}
        self._unsupported: set[Tokenizer] = set()

    def count(self, text: str, tokenizer: Tokenizer | None, *, calibrate: bool = False) -> TokenCount:
        """Count the tokens with the tokenizer if it answers, else estimate them; never raises.

        `calibrate` uses the count for later estimates; set it for texts of the kind that `estimator` is for.
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
        """Return the last ratio of counted to estimated tokens; 1 without a count."""
        return self._factors.get(tokenizer, 1.0) if tokenizer is not None else 1.0

    def estimator(self, tokenizer: Tokenizer | None) -> Callable[[str], int]:
        """Return a calibrated estimate function, which needs no request for hundreds of lines."""
        factor = self.factor(tokenizer)
        return lambda text: math.ceil(estimate_tokens(text) * factor)


class TokenizerError(Exception):
    """No count came back; counting falls back to the estimate, so this never reaches the user."""

    def __init__(self, reason: str, status: int = 0, *, was_sent: bool = True) -> None:
        super().__init__(reason)
        self.status = status
        self.was_sent = was_sent
        """Whether the text was sent; false where there was no connection."""


def find_tokenizer(endpoint: ModelEndpoint, *, sends: bool = True) -> Tokenizer | None:
    """Return the tokenizer of the user's own local server or of the running embedded one; None for any other.

    The user did not ask to send the text for counting, so no server of another user gets it, not even root's.
    Without `sends` only the embedded server counts. This function itself sends nothing.
    """
    if sends and is_own_server(endpoint):
        url = endpoint.base_url.rstrip("/").removesuffix("/v1")
        return Tokenizer(url=url, model=endpoint.model, api_key=endpoint.api_key)
    if endpoint.kind == "embedded" and (server := running_embedded(endpoint.model)) is not None:
        return Tokenizer(
            url=server.base_url.removesuffix("/v1"),
            model=server.model,
            api_key=server.api_key,
            socket_path=server.socket_path,
        )
    return None


def ask_tokenizer(tokenizer: Tokenizer, text: str) -> int:
    """Return the number of tokens by ``POST /tokenize``, in one request for both llama.cpp and vLLM.

    Blocks `TIMEOUT_S` at most.

    Raises
    ------
    TokenizerError
        The answer is late or no count.
    """
    # llama.cpp reads `content`, vLLM `model` and `prompt`; each ignores the other keys. Neither adds a BOS token.
    body = {"content": text, "model": tokenizer.model, "prompt": text, "add_special_tokens": False}
    try:
        answer = http_request(
            f"{tokenizer.url}/tokenize",
            api_key=tokenizer.api_key,
            json_body=json.dumps(body).encode(),
            timeout_s=TIMEOUT_S,
            socket_path=tokenizer.socket_path,
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
