"""A bundle as a folder that `AutoModelForCausalLM` and `AutoTokenizer` open without tapeformer."""

from __future__ import annotations

from typing import Any

from tapeformer import __version__
from tapeformer.bundle.record import Bundle
from tapeformer.engines.weights_to_module import AttentionMode
from tapeformer.export.card import Card
from tapeformer.export.folder import Folder, json_text, parameter_file, parameter_size
from tapeformer.export.source import definitions, travelling
from tapeformer.export.tables import (
    LOGIT_SCALE,
    prompt_table,
    shape_table,
    tokens_table,
    verdict_table,
)

MOST_TOKENS = 10**9
"""How far `generate` goes where no limit is given: to the verdict, for all that fits."""
HERE = "tapeformer.export.huggingface"
CLASSES = {
    "AutoConfig": "configuration_tapeformer.TapeformerConfig",
    "AutoModelForCausalLM": "modeling_tapeformer.TapeformerForCausalLM",
}
USAGE = """## Usage

In this folder, or with its name on the Hugging Face Hub in place of `"."`; tapeformer is not needed:

```python
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(".", trust_remote_code=True)
model = AutoModelForCausalLM.from_pretrained(".", trust_remote_code=True)
ids = model.generate(**tokenizer({word!r}, return_tensors="pt"))
print(tokenizer.decode(ids[0]))
print(tokenizer.read(ids[0]))
```

`generate` runs to the verdict. Ids have the shape (batch, tokens, factors); prompts may be given as
(batch, symbols). Padding is on the left. Logits are scaled by `config.logit_scale`, so that sampling
picks what the argmax picks; set it to 1 to see margins. `config.attention = "offsets"` reads without
scoring, for long sequences."""


def huggingface_folder(bundle: Bundle, dtype: str, attention: AttentionMode) -> Folder:
    """Return the folder of a model: weights, configuration, tokenizer, source, card."""
    card = Card(bundle, dtype)
    texts = {
        "config.json": json_text(config_table(bundle, dtype, attention)),
        "generation_config.json": json_text(GENERATION),
        "tokenizer_config.json": json_text(TOKENIZER),
        "tokens.json": json_text(tokens_table(bundle)),
        "machine.yaml": bundle.machine,
        "README.md": card.text([USAGE.format(word=card.word)]),
        **source_files(bundle),
    }
    weights = parameter_file(bundle, dtype, attention)
    return Folder(texts, parameter_size(bundle, dtype), {"model.safetensors": weights})


GENERATION = {"max_new_tokens": MOST_TOKENS, "do_sample": False, "pad_token_id": 0}
TOKENIZER = {
    "tokenizer_class": "TapeformerTokenizer",
    "padding_side": "left",
    "auto_map": {"AutoTokenizer": ["tokenization_tapeformer.TapeformerTokenizer", None]},
}


def config_table(bundle: Bundle, dtype: str, attention: AttentionMode) -> dict[str, Any]:
    """Return the configuration that transformers reads."""
    return {
        "architectures": ["TapeformerForCausalLM"],
        "model_type": "tapeformer",
        "auto_map": CLASSES,
        "dtype": dtype,
        "tapeformer_version": __version__,
        "attention": attention,
        "logit_scale": LOGIT_SCALE,
        **shape_table(bundle),
        **prompt_table(bundle),
        **verdict_table(bundle),
    }


def source_files(bundle: Bundle) -> dict[str, str]:
    """Return the Python files that travel."""
    names = ("configuration_tapeformer", "modeling_tapeformer", "tokenization_tapeformer")
    files = {f"{name}.py": travelling(f"{HERE}.{name}") for name in names}
    files["transformer.py"] = travelling("tapeformer.engines.transformer")
    files["decoding.py"] = decoder_source(bundle.layout.construction)
    return files


def decoder_source(construction: str) -> str:
    """Return the decoder of one construction and all that it uses, as one file."""
    roots = [
        ("tapeformer.layout", "Layout"),
        ("tapeformer.faults", "TapeformerError"),
        (f"tapeformer.constructions.{construction}.decode", "decode"),
    ]
    title = f"Reads a window of tokens back as tapes: the {construction} construction's decoder."
    return definitions(roots, title)
