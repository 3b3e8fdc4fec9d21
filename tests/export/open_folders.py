"""Opens exported folders as a user of transformers does; tapeformer is not imported.

`python open_folders.py DATA` checks what `tests.export.transformers_versions` wrote there, where
tapeformer must not be installed.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

Chains = dict[str, Tensor]
"""The whole sequence of tokens (T, K) of each word, as tapeformer's native engine makes it."""

TRUST = {"trust_remote_code": True}


def opened(folder: Path, **options: Any) -> tuple[Any, Any]:
    """Return tokenizer and model of a folder."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, **TRUST)
    return tokenizer, AutoModelForCausalLM.from_pretrained(folder, **TRUST, **options)


def chains_of(folder: Path) -> Chains:
    """Return the chains of thought that lie beside a folder."""
    return {
        name.removeprefix("word:"): chain for name, chain in load_file(f"{folder}.chains").items()
    }


def check_generation(folder: Path, chains: Chains) -> None:
    """Generate for each word alone, sampled, and for all in a batch: the chain of thought each time."""
    for dtype in (torch.float32, torch.bfloat16):
        tokenizer, model = opened(folder, dtype=dtype)
        for word, chain in chains.items():
            ids = model.generate(**tokenizer(word, return_tensors="pt"))
            assert torch.equal(ids[0], chain), (folder.name, word, dtype)
        batch = tokenizer(list(chains), padding=True, return_tensors="pt")
        for row, chain in zip(model.generate(**batch), chains.values(), strict=True):
            assert torch.equal(row[row[:, 0] >= 0], chain), (folder.name, dtype)
    for seed, (word, chain) in enumerate(list(chains.items())[:3]):
        torch.manual_seed(seed)
        ids = model.generate(**tokenizer(word, return_tensors="pt"), do_sample=True)
        assert torch.equal(ids[0], chain), (folder.name, word, "sampled")


def check_pipeline(folder: Path, chains: Chains) -> None:
    """The default pipeline gives the greedy answer, to the end."""
    from transformers import pipeline

    tokenizer, model = opened(folder)
    pipe = pipeline("text-generation", model=model, tokenizer=tokenizer)
    word, chain = max(chains.items(), key=lambda item: len(item[1]))
    (found,) = pipe(word)
    assert found["generated_text"] == tokenizer.decode(chain), found
    assert " => " in found["generated_text"]


def check_inside(folder: Path, chains: Chains) -> None:
    """Attentions, hidden states, loss, gradients, a dictionary, a streamer, limits and refusals."""
    tokenizer, model = opened(folder, dtype=torch.float32)
    word, chain = max(chains.items(), key=lambda item: len(item[1]))
    prompt = tokenizer(word, return_tensors="pt")
    start = prompt["input_ids"].shape[1]
    full = model(chain[None], output_attentions=True, output_hidden_states=True, labels=chain[None])
    assert torch.equal(full.logits[0, start - 1 : -1].argmax(-1), chain[start:])
    assert len(full.hidden_states) == model.config.num_hidden_layers + 1
    _check_attentions(model.config, full.attentions)
    labels = chain[None].clone()
    labels[:, :start] = -100
    loss = model(chain[None], labels=labels).loss
    assert loss.item() < 1e-6
    loss.backward()
    assert model.model.embed.weight.grad is not None
    asked = {"output_logits": True, "output_attentions": True, "output_hidden_states": True}
    told = model.generate(**prompt, return_dict_in_generate=True, **asked)
    assert torch.equal(told.sequences[0], chain)
    assert len(told.logits) == len(told.attentions) == len(told.hidden_states) == len(chain) - start
    assert torch.equal(model.generate(chain[None, :start])[0], chain)
    assert model.generate(**prompt, max_new_tokens=3).shape[1] == start + 3
    check_refusals(tokenizer, model, prompt)


def _check_attentions(config: Any, attentions: Any) -> None:
    """One-hot at the declared offset, and at itself before the start."""
    for pattern, heads in zip(attentions, config.heads, strict=True):
        times = torch.arange(pattern.shape[-1])
        for head, coordinate in enumerate(heads):
            offset = config.offsets[coordinate]
            there = torch.where(times >= offset, times - offset, times)
            wanted = torch.nn.functional.one_hot(there, len(times)).to(pattern.dtype)
            assert torch.equal(pattern[0, head], wanted)


def check_refusals(tokenizer: Any, model: Any, prompt: Any) -> None:
    """What cannot be is refused with what to do."""
    assert "--levels" in _refusal(tokenizer, tokenizer.symbols[2] * 5000)
    assert "no symbol '?'" in _refusal(tokenizer, "?")
    assert "beam" in _refusal(model.generate, **prompt, num_beams=2)


def _refusal(function: Any, *given: Any, **named: Any) -> str:
    """Return why something is refused."""
    try:
        function(*given, **named)
    except ValueError as error:
        return str(error)
    raise AssertionError("not refused")


def check_padding(folder: Path, chains: Chains) -> None:
    """No head of a real position attends to padding."""
    tokenizer, model = opened(folder, dtype=torch.float32)
    batch = tokenizer(list(chains), padding=True, return_tensors="pt")
    for pattern in model(**batch, output_attentions=True).attentions:
        real = batch["attention_mask"].bool()
        seen = pattern * (real[:, None, :, None] & ~real[:, None, None, :])
        assert not seen.any()


def check_saving(folder: Path, chains: Chains) -> None:
    """Saved again in small shards: the same parameters and tokens; so does a tokenizer."""
    tokenizer, model = opened(folder)
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        model.save_pretrained(copy, max_shard_size="1MB")
        tokenizer.save_pretrained(copy)
        assert len(list(copy.glob("model*.safetensors"))) > 1
        again_tokenizer, again = opened(copy)
        old, new = model.state_dict(), again.state_dict()
        assert old.keys() == new.keys()
        assert all(torch.equal(old[key], new[key]) for key in old)
        word, chain = next(iter(chains.items()))
        assert torch.equal(again.generate(**again_tokenizer(word, return_tensors="pt"))[0], chain)


def check_streaming(folder: Path, chains: Chains) -> str:
    """A streamer is given the text of the chain of thought piece by piece."""
    from transformers import TextStreamer

    tokenizer, model = opened(folder)
    word, chain = max(chains.items(), key=lambda item: len(item[1]))
    pieces: list[str] = []

    class Kept(TextStreamer):  # type: ignore[misc, no-untyped-call, unused-ignore]
        def on_finalized_text(self, text: str, stream_end: bool = False) -> None:
            del stream_end
            pieces.append(text)

    model.generate(**tokenizer(word, return_tensors="pt"), streamer=Kept(tokenizer))
    assert "".join(pieces) == tokenizer.decode(chain)
    assert len(pieces) > 2
    return "".join(pieces)


CHECKS = (
    *(check_generation, check_pipeline, check_inside, check_padding),
    *(check_saving, check_streaming),
)


def reports(data: Path) -> Iterator[str]:
    """Run every check on every folder."""
    for folder in sorted(path for path in data.iterdir() if path.is_dir()):
        chains = chains_of(folder)
        for check in CHECKS:
            check(folder, chains)
        tokens = sum(map(len, chains.values()))
        yield f"{folder.name}: {len(chains)} words, {tokens} tokens, {len(CHECKS)} checks"


if __name__ == "__main__":
    import transformers

    torch.set_num_threads(1)
    assert importlib.util.find_spec("tapeformer") is None, "tapeformer is installed here"
    print(f"transformers {transformers.__version__}, torch {torch.__version__}, no tapeformer")
    for line in reports(Path(sys.argv[1])):
        print(line, flush=True)
