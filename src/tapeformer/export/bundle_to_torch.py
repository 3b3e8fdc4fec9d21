"""A bundle as a folder that plain PyTorch opens, and what TransformerLens needs beside it."""

from __future__ import annotations

from dataclasses import replace

from tapeformer.bundle.record import Bundle
from tapeformer.engines.weights_to_module import AttentionMode
from tapeformer.export.bundle_to_huggingface import config_table, huggingface_folder
from tapeformer.export.card import Card
from tapeformer.export.folder import Folder, json_text, parameter_file, parameter_size
from tapeformer.export.source import travelling
from tapeformer.export.tables import tokens_table

TORCH_USAGE = """## Usage

In this folder; torch and safetensors are enough:

```python
from load_tapeformer import Exported

model = Exported(".")
ids = model.generate({word!r})
print(ids.shape, model.named(ids[0, -1])["verdict"])
logits = model.module(ids)
print(logits.shape, [name for name, _ in model.module.named_modules() if "hook_" in name][:4])
```

`model.module` takes tokens (batch, time, factors) and returns logits (batch, time, factors, values);
`cache=model.module.new_cache()` goes step by step, `Exported(".", attention="offsets")` makes nothing
of size time x time. Hook points have the names of TransformerLens."""

LENS_USAGE = """## Usage

In this folder, with TransformerLens; tapeformer is not needed:

```python
from hooked_tapeformer import load
from load_tapeformer import Exported

ids = Exported(".").generate({word!r})
model = load(".")
logits, cache = model.run_with_cache(ids)
print(cache["pattern", 0].shape, cache["resid_post", 0].shape)
```

The bridge of TransformerLens opens the folder too, once its adapter is registered:

```python
from bridge_tapeformer import register
from transformer_lens.model_bridge import TransformerBridge
from transformers import AutoModelForCausalLM, AutoTokenizer

register()
tokenizer = AutoTokenizer.from_pretrained(".", trust_remote_code=True)
plain = AutoModelForCausalLM.from_pretrained(".", trust_remote_code=True)
ids = plain.generate(**tokenizer({word!r}, return_tensors="pt"))
bridge = TransformerBridge.boot_transformers(".", hf_model=plain, tokenizer=tokenizer)
logits, cache = bridge.run_with_cache(ids)
print(cache["blocks.0.attn.pattern.hook_out"].shape)
```"""


def torch_folder(bundle: Bundle, dtype: str, attention: AttentionMode) -> Folder:
    """Return the folder of a model for plain PyTorch."""
    card = Card(bundle, dtype)
    texts = {
        "config.json": json_text(config_table(bundle, dtype, attention)),
        "tokens.json": json_text(tokens_table(bundle)),
        "machine.yaml": bundle.machine,
        "README.md": card.text([TORCH_USAGE.format(word=card.word)], front=""),
        **_sources("tapeformer.engines.transformer", "tapeformer.export.load_tapeformer"),
    }
    weights = parameter_file(bundle, dtype, attention)
    return Folder(texts, parameter_size(bundle, dtype), {"model.safetensors": weights})


def lens_folder(bundle: Bundle, dtype: str, attention: AttentionMode) -> Folder:
    """Return the folder of a model for Hugging Face with what TransformerLens needs beside it."""
    made, card = huggingface_folder(bundle, dtype, attention), Card(bundle, dtype)
    names = ("load_tapeformer", "hooked_tapeformer", "bridge_tapeformer")
    texts = {
        **made.texts,
        "README.md": card.text([LENS_USAGE.format(word=card.word)]),
        **_sources(*(f"tapeformer.export.{name}" for name in names)),
    }
    return replace(made, texts=texts)


def _sources(*modules: str) -> dict[str, str]:
    """Return files that are imported by name, with the folder on Python's path."""
    return {f"{m.rpartition('.')[2]}.py": travelling(m, package="") for m in modules}
