"""Fetching a model from the hub, if it answers at once.

huggingface_hub itself retries for most of a minute without a network.
"""

from __future__ import annotations

import os
import ssl
import threading
import urllib.error
import urllib.request

from pytest_soulmem.embedders.errors import visible
from pytest_soulmem.embedders.model_files import (
    CONFIGURATION,
    PICKLED,
    SAFETENSORS,
    ModelFiles,
    ModelFilesError,
    hub_cache,
    locate,
)

_PATIENCE = 2.0  # seconds


def fetch(model: str, revision: str | None = None) -> ModelFiles:
    """Download what an encoder needs into the hub's cache.

    Raises:
        ModelFilesError: the hub is out of reach, switched off or has no such model. Told within
            about two seconds.
    """
    _refuse_without_hub(model)
    from huggingface_hub import snapshot_download

    def download(*patterns: str) -> None:
        snapshot_download(
            model, revision=revision, allow_patterns=list(patterns), cache_dir=hub_cache()
        )

    try:
        download(*CONFIGURATION, *SAFETENSORS)
        try:
            return locate(model, revision)
        except ModelFilesError:
            # Older models have only pickled weights.
            download(*PICKLED)
            return locate(model, revision)
    except ModelFilesError:
        raise
    except Exception as error:  # Many kinds: HTTP, disk, a refusal of the hub's.
        raise ModelFilesError(
            f"fetching {model} failed: {type(error).__name__}: {visible(error)}"
        ) from None


def _refuse_without_hub(model: str) -> None:
    for switch in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        if os.environ.get(switch, "").upper() in {"1", "ON", "YES", "TRUE"}:
            raise ModelFilesError(f"{switch} forbids fetching {model}")
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    problem = _problem(endpoint.rstrip("/"), model)
    if problem:
        raise ModelFilesError(f"{model} cannot be fetched from {visible(endpoint)}: {problem}")


def _problem(endpoint: str, model: str) -> str | None:
    """Why the hub does not serve a model; None if it seems to."""
    answers: list[str | None] = []

    def ask() -> None:
        answers.append(_answer(endpoint, model))

    # A thread, for looking up a name knows no timeout.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_PATIENCE)
    return answers[0] if answers else f"no answer within {_PATIENCE:g} seconds"


def _answer(endpoint: str, model: str) -> str | None:
    if not endpoint.startswith(("https://", "http://")):
        return "not a web address"
    request = urllib.request.Request(f"{endpoint}/api/models/{model}", method="HEAD")  # noqa: S310
    try:
        # Goes through the proxies of the environment, as the download will.
        urllib.request.urlopen(request, timeout=_PATIENCE).close()  # noqa: S310
    except urllib.error.HTTPError as error:
        # The hub answers 401 for a model that does not exist, and for one that needs a token.
        known = {401: "no such model, or one that needs a token", 404: "no such model"}
        return known.get(error.code) if not _has_token() else None
    except urllib.error.URLError as error:
        # The hub's client may trust more certificates than the standard library.
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            return None
        return f"no connection ({visible(error.reason)})"
    except (OSError, ValueError) as error:
        return f"no connection ({visible(error)})"
    return None


def _has_token() -> bool:
    return bool(os.environ.get("HF_TOKEN")) or (hub_cache().parent / "token").is_file()
