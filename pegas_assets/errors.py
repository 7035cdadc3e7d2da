"""The errors that people and agents see: one small family, a code each, with the item and the way out."""

from __future__ import annotations


class PegasError(Exception):
    """Something a caller can act on.

    `code` is stable and snake_case. The message is one sentence that says what was wrong and with which item; `hint`
    says what to do. No message holds a secret: whoever builds one passes addresses through `settings.without_secrets`.
    """

    code = "error"
    retryable = False

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        item: str = "",
        component: str = "",
        code: str | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.item = item
        self.component = component
        if code is not None:
            self.code = code
        if retryable is not None:
            self.retryable = retryable

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidInput(PegasError):
    """The caller's words are off: an unknown type, an empty query, a number out of range."""

    code = "invalid_input"


class NotFound(PegasError):
    """The thing named does not exist."""

    code = "not_found"


class Refused(PegasError):
    """A document that will not be taken: its row, status and reason are kept, nothing else.

    `needs_ocr` marks the one refusal that has a status of its own.
    """

    code = "refused"
    needs_ocr = False


class FetchFailed(PegasError):
    """A page that could not be had. `retryable` tells a 503 from a 404.

    `status` is the server's answer, 0 where there was none; `wait_s` is how long it asked to be left alone, seconds.
    """

    code = "fetch_failed"
    status = 0
    wait_s = 0.0

    @property
    def gone(self) -> bool:
        """Whether the server says that there is no such page."""
        return self.status in (404, 410)


class EngineUnavailable(PegasError):
    """An engine or service does not answer. `component` is postgres, vectors, graph, embedder or dagster."""

    code = "unavailable"
    retryable = True


class SchemaMismatch(PegasError):
    """The database is not at the version this code needs, or a migration was edited after it was applied."""

    code = "schema_mismatch"


class FingerprintMismatch(PegasError):
    """The collection was made by another embedding model, dimension or rule than the one that is set."""

    code = "fingerprint_mismatch"


class BadEmbedding(PegasError):
    """What the embedding model sent back cannot be used: count, dimension, a value that is not finite, the norm."""

    code = "bad_embedding"
