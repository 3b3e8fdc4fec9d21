"""The dataset card: what `datasets` needs to find the files, and what a reader needs to know."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from tapeformer.export.dataset.folder import Folder
from tapeformer.export.dataset.splits import SPLITS
from tapeformer.formats.registry import loads
from tapeformer.layout import Layout

TEXT = """---
{head}---

# Chains of thought of Turing machines

Each row is one run of a Turing machine by a Transformer that tapeformer compiled from it: exact, token by token. Every
row can be checked against a direct simulation that is not part of the compiler:

```
tapeformer dataset --verify .
```

```python
from datasets import load_dataset

traces = load_dataset("path/to/this/folder", "{first}")
chats = load_dataset("json", data_files="path/to/this/folder/{first}/chat/train-*.jsonl")
```

| column | meaning |
|---|---|
| `input` | the word on tape 1, spelled as on the command line |
| `prompt_length` | how many of the first tokens are the prompt; the others were generated |
| `tokens` | prompt and chain of thought: one number per factor in each token |
| `steps` | steps of the Turing machine, one for each token whose factor `stepped` is 1 |
| `states` | the state after each step |
| `outcome` | `accept`, `reject` or `halt`; `limit` and `out_of_space` mark runs that did not end |
| `output` | each tape at the end, from its first to its last cell that is not blank |

The names, sizes and values of the factors stand in the Parquet schema's metadata under `tapeformer`. No word is in
two splits: words longer than the limit below are for testing, and of the others a hash of the word holds some out for
validation. The folder `chat` has the shorter runs as text, one line per step.

{machines}"""

MACHINE = """## {name}

{description}

Made by a model with {layout}, which is in `{folder}/model`. Words of up to {train_up_to} symbols are for training and
validation, longer ones for testing. A run may take {max_steps:,} steps; chats are of runs of at most {chat_steps:,}.

| split | rows | tokens |
|---|---|---|
{rows}
"""


def card_text(folders: Sequence[Folder]) -> str:
    """Return the card of a dataset, from the folders of its machines."""
    head = {
        "license": "apache-2.0",
        "task_categories": ["text-generation"],
        "tags": ["turing-machine", "chain-of-thought", "length-generalization"],
        "configs": [_config(folder) for folder in folders],
    }
    return TEXT.format(
        head=yaml.safe_dump(head, sort_keys=False, allow_unicode=True),
        first=folders[0].name,
        machines="\n".join(map(_machine, folders)),
    )


def _config(folder: Folder) -> dict[str, object]:
    """Return the configuration of a machine: which files belong to which split."""
    splits = [split for split in SPLITS if folder.shards(split)]
    files = [{"split": split, "path": f"{folder.name}/{split}-*.parquet"} for split in splits]
    return {"config_name": folder.name, "data_files": files}


def _machine(folder: Folder) -> str:
    manifest = folder.manifest() or {}
    machine = loads(manifest["machine"], "machine.yaml")
    rows = "\n".join(
        f"| {split} | {counts['rows']:,} | {counts['tokens']:,} |"
        for split, counts in folder.counts().items()
    )
    return MACHINE.format(
        name=machine.name,
        description=machine.description or "No description.",
        layout=_layout_text(folder.bundle().layout),
        folder=folder.name,
        train_up_to=manifest["splits"]["train_up_to"],
        max_steps=manifest["max_steps"],
        chat_steps=manifest["chat_steps"],
        rows=rows,
    )


def _layout_text(layout: Layout) -> str:
    levels = f"{layout.levels} level{'s' * (layout.levels != 1)}"
    return f"the {layout.construction} construction, {levels}, base {layout.base}"
