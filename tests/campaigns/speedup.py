"""Several steps in a token, held against the direct simulation.

python -m tests.campaigns.speedup random --machines 300     every configuration of random machines
python -m tests.campaigns.speedup gallery                   every configuration of the gallery's cases
python -m tests.campaigns.speedup models --machines 30      Transformers too, with limits and little space
python -m tests.campaigns.speedup beaver --steps 1000000    BB(5): native and sparse traces, tape, tokens
python -m tests.campaigns.speedup beaver --sparse 0 --steps 47176870 --steps-per-token 4
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

from tapeformer import gallery_machine, gallery_names, simulate
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.constructions.realtime.layout import fewest_levels
from tapeformer.inference.compare import Compared, verify_word
from tapeformer.inference.generation import Generation
from tapeformer.inference.limits import Limits
from tapeformer.simulator.outcome import Outcome
from tests.constructions.follow import MismatchError
from tests.constructions.realtime.speedup.cases import (
    Followed,
    SpeedupCase,
    as_case,
    boot_tokens,
    followed,
    speedup_case,
)

BEAVER_LEVELS = 12
GALLERY_STEPS = 600


def wrong_counts(case: SpeedupCase, ended: Followed) -> str:
    """What is wrong with the number of tokens: in base 2, ceil(t / M) after the boot."""
    if case.layout.base > 2 or ended.verdict == "out_of_space":
        return ""
    stepping = max(1, -(-ended.steps // case.steps_per_token))
    expected = boot_tokens(len(case.word), case.steps_per_token) + stepping
    return "" if ended.tokens == expected else f"{ended.tokens} tokens, not {expected}"


def checked_case(case: SpeedupCase, most: int) -> tuple[str, str]:
    """The verdict of a case, and what disagreed."""
    try:
        ended = followed(case, most)
    except MismatchError as error:
        return "wrong", str(error)
    return ended.verdict, wrong_counts(case, ended)


def random_machine(seed: int, most: int) -> tuple[str, str]:
    """One random machine, every configuration."""
    return checked_case(speedup_case(seed), most)


def gallery_run(name: str) -> tuple[str, str]:
    """The worked cases of a gallery machine, at two to five steps in a token."""
    machine = gallery_machine(name)
    verdicts = []
    for number, case in enumerate(machine.cases[:3]):
        levels = max(4, fewest_levels(len(case.word)))
        made = as_case(machine, case.word, 2 + (len(name) + number) % 4, levels)
        verdict, wrong = checked_case(made, GALLERY_STEPS)
        verdicts.append(verdict)
        if wrong:
            return verdict, f"{name} {case.word}: {wrong}"
    return " ".join(verdicts), ""


def model_run(seed: int) -> tuple[str, str]:
    """A random machine's Transformer beside queue machine and simulation; limits at any remainder."""
    case = speedup_case(seed)
    most = 20 + seed % (2 * case.steps_per_token)
    layout = case.layout
    options = CompileOptions(
        levels=layout.levels, base=layout.base, steps_per_token=case.steps_per_token
    )
    report = verify_word(case.machine, case.word, options, Compared("sparse", most))
    if not report.agreed and report.outcome is not Outcome.OUT_OF_SPACE:
        return "wrong", str(report.difference)
    made = simulate(case.machine, case.word, max_steps=most)
    same = report.outcome is made.outcome or report.outcome in (Outcome.OUT_OF_SPACE, None)
    limited = report.outcome is Outcome.LIMIT and made.outcome is not Outcome.LIMIT
    return str(report.outcome), "" if same and not limited else f"but {made.outcome}"


def beaver(steps: int, per_token: int, sparse: int) -> str:
    """BB(5): tokens, steps and tape of native code; its first tokens beside the sparse engine's."""
    machine = gallery_machine("busy_beaver_5")
    bundle = compile_machine(machine, levels=BEAVER_LEVELS, steps_per_token=per_token)
    fast, slow = Generation(bundle, (), "native"), Generation(bundle, (), "sparse")
    compared, limits = 0, Limits(steps)
    while compared < sparse and slow.outcome is None:
        rows = fast.piece(limits, min(256, sparse - compared))
        if not np.array_equal(rows, slow.piece(limits, len(rows) or 1)):
            return f"M = {per_token}: traces differ after token {compared}"
        compared += len(rows)
    fast.finish(limits)
    answer, made = fast.answer(0.0), simulate(machine, (), max_steps=steps)
    if made.outcome is Outcome.LIMIT:
        made = simulate(machine, (), max_steps=steps - steps % per_token)
    if (answer.steps, answer.tapes) != (made.steps, made.tapes):
        return f"M = {per_token}: {answer.steps} steps, and another tape"
    expected = boot_tokens(0, per_token) + -(-made.steps // per_token)
    if answer.cot_tokens != expected:
        return f"M = {per_token}: {answer.cot_tokens} tokens, not {expected}"
    print(
        f"M = {per_token}: {answer.steps:,} steps in {answer.cot_tokens:,} tokens"
        f" ({answer.boot_tokens} to boot), {answer.outcome.value}; tape as simulated;"
        f" {compared:,} tokens equal to the sparse engine's",
        flush=True,
    )
    return ""


def summary(runs: list[tuple[str, str]], first: int = 0) -> int:
    """Prints what disagreed and how runs ended; 1 if anything disagreed."""
    for number, (_, wrong) in enumerate(runs, first):
        if wrong:
            print(f"{number}: {wrong}")
    print(f"{len(runs)} runs:", dict(Counter(verdict for verdict, _ in runs)))
    return int(any(wrong for _, wrong in runs))


def asked() -> Namespace:
    """The options of the command."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("random", "gallery", "models", "beaver"))
    parser.add_argument("--machines", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="the first machine's seed")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--steps-per-token", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument(
        "--sparse", type=int, default=10**9, help="tokens made by the sparse engine"
    )
    parser.add_argument("--jobs", type=int, default=1)
    return parser.parse_args()


def main() -> int:
    """Runs what was asked for; the exit status is 1 if anything disagreed."""
    options = asked()
    if options.what == "beaver":
        found = [beaver(options.steps, m, options.sparse) for m in options.steps_per_token]
        print("\n".join(filter(None, found)) or "all agree")
        return int(any(found))
    seeds = range(options.seed, options.seed + options.machines)
    with ProcessPoolExecutor(options.jobs) as pool:
        if options.what == "gallery":
            return summary(list(pool.map(gallery_run, gallery_names())))
        if options.what == "models":
            return summary(list(pool.map(model_run, seeds)), options.seed)
        run = partial(random_machine, most=options.steps)
        return summary(list(pool.map(run, seeds, chunksize=4)), options.seed)


if __name__ == "__main__":
    raise SystemExit(main())
