"""Wrong programs against models and runs: each raises a TapeformerError in Python terms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tapeformer as tf

api: Any = tf
"""The library as a program without type checks sees it."""

MACHINE = tf.gallery_machine("palindrome")
SMALL = tf.compile_machine(MACHINE, levels=4)


def run(word: Any = "abba", **options: Any) -> object:
    return api.run("palindrome", word, **options)


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no machine": (
        lambda: api.run(None),
        "expected a gallery name, a path, busy-beaver text.*got None",
    ),
    "a number": (lambda: api.run(3, "a"), "TuringMachine or a tf.Bundle; got 3 .int."),
    "a slip in busy-beaver text": (lambda: api.run("1RB1RZ_1LB0RC_1LC1L"), "got 1L in row C"),
    "a list of machines": (
        lambda: api.loads("1RB1LB_1LA1RZ\n1RB1RZ\n"),
        "several machines, one on each line.*tf.run_machines",
    ),
    "cluster is a number": (
        lambda: api.run_batch_file(SMALL, "a", "b", cluster=5),
        "bad `cluster`; expected an address",
    ),
    "no jobs": (lambda: api.run_batch_file(SMALL, "a", "b", jobs=0), "bad `jobs`.*at least 1"),
    "an empty name": (lambda: api.run("", "a"), "no machine was named"),
    "a misspelt name": (lambda: api.run("palindrom", "abba"), "did you mean palindrome"),
    "word None": (lambda: run(None), 'not a word.*the empty word is ""'),
    "a set": (lambda: run({"a"}), "not a word"),
    "an unknown symbol": (lambda: run("abc"), "symbol 'c' is not in the alphabet"),
    "unknown symbols": (
        lambda: run("axbyx"),
        "INPUT, characters 2, 4, 5: error: symbols 'x', 'y' are .*tf.Conventions.symbols=NAMES.",
    ),
    "a misspelt option": (lambda: run(leve=3), "no option 'leve'.*did you mean levels"),
    "an option of another": (
        lambda: api.compile_machine(MACHINE, engine="sparse"),
        "no option 'engine'",
    ),
    "levels as text": (lambda: run(levels="4"), "levels is not a whole number"),
    "levels True": (lambda: run(levels=True), "levels is not a whole number"),
    "no levels": (lambda: run(levels=0), "expected 2 to 64 levels.*give levels=2"),
    "too few levels": (
        lambda: run(levels=4, base=2, space=5000),
        "4 levels is too small for 5000 cells; got room for 154; give levels=9",
    ),
    "far too many levels": (lambda: run(levels=10**9), "give levels=12"),
    "an odd base": (lambda: run(base=3), "expected an even base.*give base=4"),
    "a huge base": (lambda: run(base=10**4000), "window would be too long"),
    "a misspelt construction": (lambda: run(construction="papr"), "did you mean paper"),
    "construction None": (lambda: run(construction=None), "there is no construction"),
    "no size for paper": (
        lambda: api.compile_machine(MACHINE, construction="paper"),
        "size of the queues is not fixed.*give space=CELLS",
    ),
    "three tapes in a literal queue": (
        lambda: api.run("binary_addition", "1#1", construction="post", literal=True),
        "one queue holds one",
    ),
    "an unknown engine": (lambda: run(engine="fast"), "no engine 'fast'.*expected dense, sparse"),
    "engine None": (lambda: run(engine=None), "no engine 'None'"),
    "a dtype of another engine": (lambda: run(dtype="float32"), "use engine='dense'"),
    "attention of another engine": (
        lambda: run(attention="softmax"),
        "no choice of attention; use engine='dense', or for some values engine='sparse'",
    ),
    "an unknown dtype": (lambda: run(engine="sparse", dtype="int4"), "int4.*expected one of"),
    "negative steps": (
        lambda: run(max_steps=-1),
        "bad `max_steps`; expected a whole number, at least 0",
    ),
    "float steps": (lambda: run(max_steps=1e3), "max_steps.*got 1000.0 .float."),
    "no tokens": (lambda: run(max_tokens=0), "max_tokens"),
    "spaced 1": (lambda: run(spaced=1), "spaced.*expected True or False"),
    "watch 3": (lambda: run(watch=3), "watch.*expected a function"),
    "see 3": (lambda: run(see=3), "see.*expected a function"),
    "too long a word": (lambda: run("a" * 100, levels=3), "too long.*give levels=8 or more"),
    "options for a bundle": (lambda: api.run(SMALL, "a", levels=3), "already compiled"),
    "heads q": (lambda: run(heads="q"), "offset or queue"),
    "layers that do not divide": (lambda: run(layers=2), "a number of layers that divides 3: 1, 3"),
    "a checkpoint nowhere": (
        lambda: run(checkpoint="/no/such/folder/x"),
        "no folder for the checkpoint.*give another file",
    ),
    "a checkpoint without a name": (
        lambda: run(checkpoint="a\0b"),
        r"'a.x00b': error: no checkpoint can have this name.*give another file",
    ),
    "a checkpoint of a stream": (
        lambda: api.stream("palindrome", "a", checkpoint="x"),
        "leave out checkpoint, or use tf.run",
    ),
    "stream None": (lambda: api.stream("palindrome", None), "not a word"),
    "compile a name": (lambda: api.compile_machine("palindrome"), "tf.gallery_machine"),
    "options twice": (
        lambda: api.compile_machine(MACHINE, tf.CompileOptions(levels=3), levels=4),
        "given twice",
    ),
    "options 3": (lambda: api.compile_machine(MACHINE, 3), "use tf.CompileOptions"),
    "no bundle there": (lambda: api.load_bundle("/no/such"), "there is no bundle.*compile"),
    "load None": (lambda: api.load_bundle(None), "expected a str or a Path"),
    "allow_modified x": (lambda: api.load_bundle("x", allow_modified="x"), "allow_modified"),
    "save a machine": (lambda: api.save_bundle(MACHINE, "x"), "use|compile one with"),
    "save to None": (lambda: api.save_bundle(SMALL, None), "expected a str or a Path"),
    "verify to step x": (lambda: api.verify("palindrome", max_steps="x"), "max_steps"),
    "verify foo": (lambda: api.verify("palindrome", "a", foo=3), "no option 'foo'"),
    "no such neuron": (lambda: api.info(SMALL, neuron=10**9), "neuron"),
    "no such stage": (lambda: api.stage_text(MACHINE, "circuits"), "did you mean circuit"),
    "batch of one word": (lambda: api.run_batch(SMALL, "abba"), "not a list of words"),
    "batch with an engine": (
        lambda: api.run_batch(SMALL, ["a"], engine="dense"),
        "leave out the options on the engine",
    ),
    "machines None": (lambda: api.run_machines(None, "x"), "bad `machines`"),
    "batch file None": (lambda: api.run_batch_file(SMALL, None, "x"), "bad `inputs`"),
    "no such table": (lambda: api.run_queue_table("/no/such.yaml"), "no table '/no/such.yaml'"),
    "a misspelt table": (
        lambda: api.run_queue_table("balancd"),
        "did you mean balanced.*the package has the tables",
    ),
    "an unknown symbol of a table": (
        lambda: api.run_queue_table("balanced", "abxa"),
        "symbol 3: error: symbol 'x' .*expected one of 'a', 'b'; use only",
    ),
    "table None": (lambda: api.run_queue_table(None), "not a table"),
    "diagram of a name": (lambda: api.state_diagram("palindrome"), "tf.gallery_machine"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_programs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong, message = WRONG[name]
    with pytest.raises(tf.TapeformerError, match=f"(?s){message}") as caught:
        wrong()
    assert "--" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_word_that_does_not_fit_is_an_item_of_a_batch() -> None:
    good, bad, long = tf.run_batch(SMALL, ["abba", "xyz", "a" * 50])
    assert isinstance(good, tf.Answer)
    assert good.outcome is tf.Outcome.ACCEPT
    assert isinstance(bad, tf.TapeformerError)
    assert isinstance(long, tf.TapeformerError)
