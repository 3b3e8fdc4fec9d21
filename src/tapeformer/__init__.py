"""tapeformer: multi-tape Turing machines compiled to exact Transformers."""

__version__ = "0.1.0"
