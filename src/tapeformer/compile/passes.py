"""The compiler on one page: a Turing machine becomes queues, a circuit, weights, a bundle.

The list of passes is a value. A compilation can stop after any of them, and one hook between
passes serves checking, timing and printing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from tapeformer.bundle.record import Bundle
from tapeformer.compile.options import CompileOptions, checked_options
from tapeformer.compile.rules import rule_origins
from tapeformer.faults import Fault, TapeformerError
from tapeformer.formats.registry import OWN_FORMAT, dumps
from tapeformer.layout import Layout
from tapeformer.lowering.queues_to_prompt import prompt_for
from tapeformer.lowering.queues_to_weights import transformer
from tapeformer.lowering.weights_to_normalised import with_layer_norm
from tapeformer.machine.record import TuringMachine
from tapeformer.machine.verify import checked
from tapeformer.queues.record import QueueMachine, Token
from tapeformer.weights.record import TransformerWeights

Stage = TypeVar("Stage")


@dataclass(frozen=True, eq=False)
class Compilation:
    """A machine on its way: each pass adds one stage."""

    machine: TuringMachine
    options: CompileOptions
    layout: Layout | None = None
    queue_machine: QueueMachine | None = None
    weights: TransformerWeights | None = None
    vocabulary: tuple[Token, ...] = ()
    bundle: Bundle | None = None


def sizes_to_layout(work: Compilation) -> Compilation:
    """Fix the levels, the base and the length that each rule gives: all that depends on n."""
    options = work.options
    layout = options.made_by.layout(work.machine, options.levels, options.base, options.space)
    return replace(work, layout=layout)


def tapes_to_queues(work: Compilation) -> Compilation:
    """Step I (Theorem 2): make the synchronous queue machine and its step circuit, for every base."""
    make = work.options.made_by.queue_machine
    return replace(work, queue_machine=make(work.machine, made(work.layout).levels))


def queues_to_weights(work: Compilation) -> Compilation:
    """Step II (Theorem 3): heads fetch the fronts of the queues, a ReLU network makes the step."""
    options, layout, queues = work.options, made(work.layout), made(work.queue_machine)
    if options.literal:
        return _literal(work)
    if options.heads == "offset":
        queues = options.made_by.share_heads(queues, layout)
    weights = transformer(queues, options.heads, options.layers)
    return replace(work, weights=with_layer_norm(weights) if options.layer_norm else weights)


def _literal(work: Compilation) -> Compilation:
    """Step II to the letter (Appendix B): one number for a token, of those that can occur."""
    from tapeformer.lowering.queues_to_literal import literal_transformer
    from tapeformer.lowering.queues_to_tracks import with_tracks
    from tapeformer.queues.tracks import reachable_tokens

    queues = made(work.queue_machine)
    tracks = made(work.options.made_by.tracks)(work.machine)
    tokens = reachable_tokens(queues, tracks)
    split = tuple(map(tracks.split, tokens))
    weights = literal_transformer(with_tracks(queues, tracks), work.options.layers, split)
    return replace(work, weights=weights, vocabulary=tokens)


def weights_to_bundle(work: Compilation) -> Compilation:
    """Add to the weights the layout, and how to write the prompt and read the answer."""
    queues = made(work.queue_machine)
    bundle = Bundle(
        name=work.machine.name,
        weights=made(work.weights),
        layout=made(work.layout),
        prompt=prompt_for(queues),
        answer=_answer(work.machine, queues, work.vocabulary),
        machine=dumps(work.machine, OWN_FORMAT),
        rules=rule_origins(work.machine),
    )
    return replace(work, bundle=bundle)


def _answer(
    machine: TuringMachine, queues: QueueMachine, vocabulary: tuple[Token, ...]
) -> dict[str, object]:
    """Say, as plain data, which factor of a token means what, and how tapes are read and spelled."""
    register, values = queues.loading
    listed = {"vocabulary": [list(token) for token in vocabulary]} if vocabulary else {}
    return {
        "reading": {**queues.reading, **listed},
        "grow": queues.grow,
        "verdict": queues.verdict,
        "stepped": queues.stepped,
        "state": queues.state,
        "loading": {"factor": register, "values": list(values)},
        "blank": machine.blank,
        "spaced": not machine.single_characters,
        "queue_rules": [queue.length_rule for queue in queues.queues],
    }


Pass = Callable[[Compilation], Compilation]
PASSES: tuple[Pass, ...] = (sizes_to_layout, tapes_to_queues, queues_to_weights, weights_to_bundle)


def compiled(
    machine: TuringMachine,
    options: CompileOptions,
    *,
    last: Pass = weights_to_bundle,
    hook: Callable[[Pass, Compilation], None] | None = None,
) -> Compilation:
    """Run the passes up to `last`; the hook sees every pass and what it made."""
    work = Compilation(checked(machine), checked_options(options))
    for step in PASSES[: PASSES.index(last) + 1]:
        work = step(work)
        if hook is not None:
            hook(step, work)
    return work


def made(stage: Stage | None) -> Stage:
    """Return a stage that a pass has made; asking for it too early is an error."""
    if stage is None:
        raise TapeformerError(Fault("a pass was asked for a stage that was not made yet"))
    return stage
