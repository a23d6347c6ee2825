"""Encoders that FlagEmbedding reads: BGE and its kin.

FlagEmbedding, transformers and torch take seconds to import, so that nothing of them is imported
before a text must be embedded.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pytest_soulmem.embedders import Identity, Side
from pytest_soulmem.embedders.errors import EmbedderUnavailable, visible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pytest_soulmem.embedders.model_files import ModelFiles

NAME = "bge"
MODEL = "BAAI/bge-small-zh-v1.5"
_CHUNK = 64  # Below FlagEmbedding's batch size, from which on it prints bars of its own.
_MAX_LENGTH = 512
_INSTRUCTIONS = (
    (r"bge-(small|base|large)-zh(-v1\.5)?", "为这个句子生成表示以用于检索相关文章："),
    (
        r"bge-(small|base|large)-en(-v1\.5)?",
        "Represent this sentence for searching relevant passages: ",
    ),
)


def is_installed() -> bool:
    """Whether FlagEmbedding is there, told without importing it."""
    return importlib.util.find_spec("FlagEmbedding") is not None


def default_instruction(model: str) -> str:
    """What a model was trained to see before queries, by its name or its folder's.

    The BGE v1 and v1.5 models have a Chinese or an English one. Every other model has none, as
    in FlagEmbedding itself: bge-m3 was trained without, and of an unknown folder nothing is known.
    """
    name = re.split(r"[/\\]", model.rstrip("/\\"))[-1].lower()
    return next((text for pattern, text in _INSTRUCTIONS if re.fullmatch(pattern, name)), "")


def default_pooling(files: ModelFiles) -> str:
    """``mean`` where the model's own ``1_Pooling/config.json`` says so, else ``cls``."""
    own = files.config("1_Pooling/config.json")
    return "mean" if own.get("pooling_mode_mean_tokens") is True else "cls"


def max_length(files: ModelFiles) -> int:
    """How many tokens of a text count: 512, or as many as the model has positions for."""
    config = files.config()
    positions = config.get("max_position_embeddings")
    if not isinstance(positions, int) or positions < 1:
        return _MAX_LENGTH
    if "roberta" in str(config.get("model_type")):
        # RoBERTa counts positions from after the padding token's number.
        positions -= int(config.get("pad_token_id") or 0) + 1
    return min(_MAX_LENGTH, positions)


def fingerprint(version: str, pooling: str, instruction: str) -> str:
    """Everything but the name that changes vectors, in words."""
    told = (
        f"instruction {json.dumps(instruction, ensure_ascii=False)}"
        if instruction
        else "no instruction"
    )
    return f"{version}, {pooling} pooling, {told}"


def agrees(identity: Identity, pooling: str | None, instruction: str) -> bool:
    """Whether stored vectors were made with these settings; pooling None agrees with any."""
    poolings = [pooling] if pooling else ["cls", "mean"]
    return any(identity.fingerprint.endswith(fingerprint("", one, instruction)) for one in poolings)


def revision_of(identity: Identity) -> str | None:
    """The hub's revision that an identity names, if it names one."""
    found = re.match(r"revision ([^,]+),", identity.fingerprint)
    return found[1] if found else None


class BgeEmbedder:
    """A model in a local folder, in float32, on a GPU where there is one.

    ``instruction`` stands before queries, never before passages; empty means none. ``pooling`` is
    ``cls`` or ``mean``.
    """

    def __init__(self, files: ModelFiles, pooling: str | None, instruction: str) -> None:
        self.files = files
        self.pooling = pooling or default_pooling(files)
        self.instruction = instruction
        self._model: Any = None

    @property
    def identity(self) -> Identity:
        """The model's name and version, with pooling and instruction."""
        return Identity(
            NAME,
            self.files.name,
            fingerprint(self.files.version, self.pooling, self.instruction),
        )

    def embed(self, texts: Sequence[str], side: Side) -> NDArray[np.float32]:
        """Shape ``(len(texts), dimension)``, normalised. Texts are cut at 512 tokens.

        Raises:
            EmbedderUnavailable: the libraries or the model do not load.
        """
        import numpy as np

        if self._model is None:
            self._model = self._load()
        encode = self._model.encode_queries if side == "query" else self._model.encode_corpus
        chunks = [list(texts[start : start + _CHUNK]) for start in range(0, len(texts), _CHUNK)]
        vectors = [np.asarray(encode(chunk), np.float32) for chunk in chunks]
        return np.concatenate(vectors) if vectors else np.empty((0, 0), np.float32)

    def _load(self) -> Any:
        place = visible(self.files.folder)
        try:
            from FlagEmbedding import FlagModel
        except Exception as error:  # A wrong version of one of its many libraries raises anything.
            raise EmbedderUnavailable(
                f"FlagEmbedding is installed but does not import ({_brief(error)}). "
                "It needs transformers below 5.10"
            ) from None
        try:
            with _quiet():
                model = FlagModel(
                    str(self.files.folder),
                    query_instruction_for_retrieval=self.instruction or None,
                    pooling_method=self.pooling,
                    use_fp16=False,
                    query_max_length=max_length(self.files),
                    passage_max_length=max_length(self.files),
                )
                lacking = self._lacking()
        except Exception as error:  # Whatever is wrong in the files, told by three libraries.
            raise EmbedderUnavailable(
                f"the model in {place} does not load: {_brief(error)}"
            ) from None
        if lacking:
            raise EmbedderUnavailable(
                f"the model in {place} is not whole: its weights lack {visible(lacking[0])}"
                + (f" and {len(lacking) - 1} more" if len(lacking) > 1 else "")
            )
        tokens, known = len(model.tokenizer), model.model.config.vocab_size
        if tokens > known:
            # On a GPU, FlagEmbedding would try again without end.
            raise EmbedderUnavailable(
                f"the model in {place} is not whole: its tokenizer has {tokens} tokens and its "
                f"weights know {known}"
            )
        # Several GPUs would mean a pool of processes, in every process of the run.
        model.target_devices = model.target_devices[:1]
        return model

    def _lacking(self) -> list[str]:
        """Weights that the files lack. transformers fills them with random numbers."""
        from transformers import AutoModel

        _, info = AutoModel.from_pretrained(
            str(self.files.folder), output_loading_info=True, local_files_only=True
        )
        # The pooler is a layer that FlagModel does not use and many models come without.
        return sorted(name for name in info["missing_keys"] if "pooler" not in name)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers' bars and reports off the terminal while a model loads."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _brief(error: Exception) -> str:
    """An error in a line; those of model libraries run to a page."""
    text = " ".join(visible(line) for line in str(error).split("\n"))
    return f"{type(error).__name__}: {text[:300]}{'…' if len(text) > 300 else ''}"
