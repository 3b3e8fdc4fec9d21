"""Where models can go: for each target the packages it needs, their extra, and what makes its files."""

from __future__ import annotations

from dataclasses import dataclass

from tapeformer.faults import Fault, TapeformerError, did_you_mean, quoted


@dataclass(frozen=True)
class Target:
    """A tool that models are exported to."""

    packages: tuple[str, ...]
    extra: str
    module: str
    function: str


TARGETS = {
    "torch": Target(("torch",), "torch", "tapeformer.export.bundle_to_torch", "torch_folder"),
    "huggingface": Target(
        ("torch", "transformers"),
        "huggingface",
        "tapeformer.export.bundle_to_huggingface",
        "huggingface_folder",
    ),
    "onnx": Target(
        ("torch", "onnx", "onnxscript", "onnxruntime"),
        "onnx",
        "tapeformer.export.bundle_to_onnx",
        "onnx_folder",
    ),
    "transformer-lens": Target(
        ("torch", "transformers", "transformer_lens"),
        "lens",
        "tapeformer.export.bundle_to_torch",
        "lens_folder",
    ),
}


def target(name: str) -> Target:
    """Return a target by its name."""
    if name not in TARGETS:
        raise TapeformerError(
            Fault(
                f"models cannot be exported to {quoted(str(name))}",
                expected="one of " + ", ".join(TARGETS),
                remedy=did_you_mean(str(name), TARGETS),
            )
        )
    return TARGETS[name]
