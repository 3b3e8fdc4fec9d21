"""What a user may choose about a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, Literal, get_args

from tapeformer.arguments import check_flag
from tapeformer.constructions import DEFAULT, Construction, construction
from tapeformer.constructions.sizes import Sizes, check_given, refuse
from tapeformer.dataclass import dataclass
from tapeformer.faults import TapeformerError, did_you_mean, quoted

Heads = Literal["offset", "queue"]


@dataclass(frozen=True)
class CompileOptions:
    """The construction, its sizes (of levels, base and space, two fix the third), heads and steps."""

    construction: str = DEFAULT
    levels: int | None = None
    base: int | None = None
    space: int | None = None
    heads: Heads = "offset"
    layers: int = 1
    layer_norm: bool = False
    steps_per_token: int = 1
    literal: bool = False

    @property
    def made_by(self) -> Construction:
        """The construction, with as many steps in a token as were asked for."""
        return construction(self.construction, self.steps_per_token)

    @property
    def sizes(self) -> Sizes:
        """The sizes, as constructions take them."""
        return Sizes(self.levels, self.base, self.space)

    @property
    def grows(self) -> bool:
        """Whether a model of these options gets more levels while it runs."""
        return self.made_by.grows(self.sizes)

    def with_sizes(self, sizes: Sizes) -> CompileOptions:
        """Return the same options with other sizes."""
        return replace(self, levels=sizes.levels, base=sizes.base, space=sizes.space)


COMPILE_OPTIONS = tuple(field.name for field in fields(CompileOptions))


def compile_options(options: CompileOptions | None, named: dict[str, Any]) -> CompileOptions:
    """Return checked options, given as a record or by name but not both."""
    if options is not None and named:
        remedy = "put all of them into CompileOptions, or none"
        raise refuse("options were given twice", "a record or names", "both", remedy)
    unknown = [name for name in named if name not in COMPILE_OPTIONS]
    if unknown:
        raise unknown_option(unknown[0], COMPILE_OPTIONS)
    return checked_options(CompileOptions(**named) if options is None else options)


def unknown_option(name: str, known: Sequence[str]) -> TapeformerError:
    """Return the error for an option that does not exist, with the nearest one that does."""
    remedy = did_you_mean(name, known) or "leave it out"
    return refuse(f"there is no option {quoted(name)}", ", ".join(known), "", remedy)


def checked_options(options: CompileOptions) -> CompileOptions:
    """Refuse options of a wrong type or out of range, whoever gave them."""
    if not isinstance(options, CompileOptions):
        got, remedy = type(options).__name__, "use tf.CompileOptions(levels=5), or levels=5"
        raise refuse("the options are not CompileOptions", "tf.CompileOptions", got, remedy)
    steps = options.steps_per_token
    if type(steps) is not int or steps < 1:
        expected = "a whole number, at least 1"
        raise refuse("a token makes at least one step", expected, repr(steps), "give 1")
    made = construction(options.construction, steps)
    check_given(options.levels, options.base, options.space)
    if options.heads not in get_args(Heads):
        known = " or ".join(get_args(Heads))
        raise refuse("unknown choice of heads", known, repr(options.heads), f"give heads {known}")
    if type(options.layers) is not int or options.layers < 1:
        raise refuse("a model needs a layer", "layers at least 1", repr(options.layers), "give 1")
    for name in ("layer_norm", "literal"):
        check_flag(name, getattr(options, name))
    if options.literal and (made.tracks is None or options.layer_norm):
        what = "the literal Transformer is made of a machine with one queue, without normalisation"
        got = options.construction + " with layer_norm" * options.layer_norm
        raise refuse(what, "the construction post", got, "give construction='post' alone")
    return options
