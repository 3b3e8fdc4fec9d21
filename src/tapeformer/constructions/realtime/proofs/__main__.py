"""Run every proof; the exit status is 1 if one fails."""

from tapeformer.constructions.realtime.proofs import (
    base_two,
    certificates,
    circuit_is_model,
    larger_base,
    lock_step,
)

if __name__ == "__main__":
    mains = (
        base_two.main,
        circuit_is_model.main,
        larger_base.main,
        lock_step.main,
        lambda: certificates.main([]),
    )
    raise SystemExit(max(main() for main in mains))
