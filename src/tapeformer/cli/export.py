"""`tapeformer export`: a model as a folder for PyTorch, Hugging Face, ONNX or TransformerLens."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.models import find_model
from tapeformer.cli.options import provides
from tapeformer.cli.output import print_json

if TYPE_CHECKING:
    from tapeformer.inference.model import Model

To = Annotated[
    str,
    typer.Option("--to", help="torch, huggingface, onnx or transformer-lens.", show_default=False),
]
Output = Annotated[
    Path, typer.Option("-o", "--output", help="The folder to write.", show_default=False)
]
Dtype = Annotated[
    str,
    typer.Option(
        "--dtype",
        help="float32, bfloat16, float16 or float64; the page of the folder says which is exact.",
    ),
]
Attention = Annotated[
    str, typer.Option("--attention", help="scores, or offsets: no scores, for long sequences.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an export that is there.")]


@provides(model=find_model)
def export(
    model: Model,
    to: To,
    output: Output,
    dtype: Dtype = "float32",
    attention: Attention = "scores",
    overwrite: Overwrite = False,
    as_json: shared.Json = False,
) -> None:
    """Write a model for PyTorch, Hugging Face, ONNX, TransformerLens.

    None of them needs tapeformer to open it.
    """
    import tapeformer.export as library
    from tapeformer.export.targets import target
    from tapeformer.inference.records import model_record

    started = time.perf_counter()
    target(to)
    bundle = model.bundle or model.compiled(model.options)
    options: Any = {"to": to, "dtype": dtype, "attention": attention, "overwrite": overwrite}
    library.save(bundle, output, tell=lambda text: print(text, file=sys.stderr), **options)
    files = {path.name: path.stat().st_size for path in sorted(output.iterdir())}
    record = {**model_record(bundle), "to": to, "dtype": dtype, "folder": str(output)}
    record |= {"files": files, "seconds": round(time.perf_counter() - started, 3)}
    if as_json:
        print_json(record)
    else:
        size = sum(files.values()) / 1e6
        print(f"written to {output}: {len(files)} files, {size:,.1f} MB, {record['seconds']} s")
        print(f"{output / 'README.md'} shows how to open it")
