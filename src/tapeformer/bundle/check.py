"""Checking a configuration whole, before anything is allocated: kinds, names, ranges, sizes.

Sizes are compared by arithmetic: nothing in a configuration that passes is larger than what its own
lists of names and its layout account for. Whether a layout is what its construction would choose is
not known here.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from tapeformer import __version__
from tapeformer.bundle.files import FORMAT, MACHINE, VERSION, config_digest, refuse
from tapeformer.bundle.record import RuleOrigin, listed_factors
from tapeformer.bundle.table import JsonObject, parsed
from tapeformer.faults import Fault, SourceLocation, TapeformerError, quoted
from tapeformer.layout import Layout
from tapeformer.weights.positions import window_for
from tapeformer.weights.record import Factor
from tapeformer.weights.tokens import Prompt

LONGEST = 1 << 31
"""No queue is longer."""
MOST_CELLS = 1 << 62
"""No tape holds more."""
MOST_COORDINATES = 1 << 24
"""Residual coordinates, fetched values and neurons over all layers."""

ENTRIES = (
    *("format", "version", "tapeformer", "name", "sha256", "layout", "factors", "fields"),
    *("position_rules", "layers", "shapes", "layer_norm", "prompt", "answer", "rules"),
)
OPTIONAL = ("learned",)
"""Only trained models have it: what they were trained on."""
VERDICTS = ("run", "accept", "reject", "halt", "limit", "out_of_space")
"""The values that the factor of the verdict may have; `run` until the machine has stopped."""
ANSWER = (
    *("reading", "verdict", "stepped", "state", "grow", "loading", "blank", "spaced"),
    "queue_rules",
)
NUMBERS = ("tapes", "levels", "steps_per_token")
LISTS, LISTS_OF_LISTS = ("factors",), ("coded", "vocabulary")
"""The entries of `answer.reading` that are not text."""


@dataclass(frozen=True)
class LayerNames:
    """The heads of a layer, each with its positional coordinate, and its neurons.

    `neurons` has a tuple for each hidden layer of the network, and is None without a network.
    """

    heads: tuple[tuple[str, int], ...]
    neurons: tuple[tuple[str, ...], ...] | None


@dataclass(frozen=True)
class Config:
    """A configuration that was checked: everything of a model but its parameters.

    `answer` has the texts `verdict`, `stepped`, `state` (names of factors), `grow` (one, or ""),
    `blank`, the flag `spaced` (symbols are spelled apart), `loading` (a `factor`, or "", and its
    `values` in tokens that only bring the input to its place), the list of texts `queue_rules`, and
    `reading`: a table whose entries are texts, but for `factors` (a
    list of texts, all factors but the parity in order), `coded` (a list of lists of texts), `tapes`,
    `levels` and `steps_per_token` (small numbers), and `vocabulary`, only of flat models (the factors
    of each token, a list of lists of texts).
    """

    name: str
    factors: tuple[Factor, ...]
    fields: tuple[str, ...]
    position_rules: tuple[str, ...]
    layers: tuple[LayerNames, ...]
    key_width: int
    value_width: int
    layer_norm: bool
    layout: Layout
    prompt: Prompt
    answer: Mapping[str, object]
    rules: tuple[RuleOrigin, ...]
    hashes: Mapping[str, str]
    learned: str = ""


def checked_config(content: bytes, path: Path) -> Config:
    """Return the configuration in the bytes of `config.json`, or raise its first fault."""
    entries = parsed(content, path)
    _check_version(entries, path)
    optional = [key for key in OPTIONAL if key in entries]
    table = JsonObject(path, "", entries).only(*ENTRIES, *optional)
    hashes = table.table("sha256").only("config", "parameters", "machine").mapping()
    if hashes["config"] != config_digest(entries):
        refuse(path, "the file was altered", "the content whose SHA-256 it names", "other content")
    table.text("tapeformer")
    factors, fields, rules = _factors(table), _names(table, "fields"), table.texts("position_rules")
    layers = tuple(_layer(entry, len(rules)) for entry in table.tables("layers"))
    key, value = _widths(table.table("shapes"), len(fields), len(rules), layers)
    layout = _layout(table.table("layout"), rules)
    tokens = _token_factors(table, factors)
    prompt = _prompt(table.table("prompt"), tokens)
    return Config(
        name=table.text("name"),
        factors=factors,
        fields=fields,
        position_rules=rules,
        layers=layers,
        key_width=key,
        value_width=value,
        layer_norm=table.flag("layer_norm"),
        layout=layout,
        prompt=prompt,
        answer=_answer(table.table("answer"), tokens, layout, prompt.parity),
        rules=tuple(_rule(entry) for entry in table.tables("rules")),
        hashes=hashes,
        learned=table.text("learned") if "learned" in optional else "",
    )


def _token_factors(table: JsonObject, factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
    """Return what tokens are read by: the model's factors, or those that a flat vocabulary lists."""
    reading = table.table("answer").table("reading")
    if "vocabulary" not in reading.entries:
        return factors
    names = (*reading.texts("factors"), table.table("prompt").text("parity"))
    listed = reading.text_lists("vocabulary")
    sizes = {len(token) for token in listed}
    if len(factors) != 1 or sizes != {len(names)} or len(set(listed)) != len(factors[0].values):
        reading.refuse("vocabulary", "one list of texts for each token of a flat model")
    return listed_factors(names, listed)


def _rule(entry: JsonObject) -> RuleOrigin:
    """Return where a rule came from; its line is null where it has none."""
    entry.only("text", "source", "line")
    line = None if entry.entries["line"] is None else entry.integer("line", 1, LONGEST)
    return RuleOrigin(entry.text("text"), entry.text("source"), line)


def _check_version(entries: Mapping[str, object], path: Path) -> None:
    if entries.get("format") != FORMAT:
        refuse(path, "this is not a bundle", quoted(FORMAT), quoted(str(entries.get("format"))))
    version = entries.get("version")
    if version != VERSION or type(version) is not int:
        _refuse_version(path, quoted(str(version))[1:-1])


def _refuse_version(path: Path, version: str) -> NoReturn:
    folder = path.parent
    machine, target = (shlex.quote(str(part)) for part in (folder / MACHINE, folder))
    raise TapeformerError(
        Fault(
            "the bundle is of another version",
            SourceLocation(str(path)),
            expected=f"bundle version {VERSION} (tapeformer {__version__})",
            got=version,
            remedy=f"its machine is in {MACHINE}; compile it again: "
            f"`tapeformer compile {machine} -o {target} --overwrite`",
        )
    )


def _names(table: JsonObject, key: str) -> tuple[str, ...]:
    """Return a list of one or more different names."""
    names = table.texts(key)
    if not names or len(set(names)) < len(names):
        table.refuse(key, "one or more texts, all different")
    return names


def _factors(table: JsonObject) -> tuple[Factor, ...]:
    factors = tuple(
        Factor(entry.only("name", "values").text("name"), _names(entry, "values"))
        for entry in table.tables("factors")
    )
    if len({factor.name for factor in factors}) < max(1, len(factors)):
        table.refuse("factors", "one or more tables, each with another name")
    return factors


def _layer(entry: JsonObject, rules: int) -> LayerNames:
    heads = entry.only("heads", "neurons").tables("heads")
    positions = [head.only("name", "position").integer("position", 0, rules - 1) for head in heads]
    names = [head.text("name") for head in heads]
    neurons = None if entry.entries["neurons"] is None else entry.text_lists("neurons")
    if neurons == ():
        entry.refuse("neurons", "null, or one or more lists of texts")
    return LayerNames(tuple(zip(names, positions, strict=True)), neurons)


def _widths(
    shapes: JsonObject, d: int, rules: int, layers: tuple[LayerNames, ...]
) -> tuple[int, int]:
    """Return the widths of heads: keys have a coordinate for each rule, none is wider than d."""
    shapes.only("d_model", "layers", "key_width", "value_width")
    shapes.equals("d_model", d)
    shapes.equals("layers", len(layers))
    key = shapes.integer("key_width", rules, max(rules, d))
    value = shapes.integer("value_width", 0, d)
    neurons = sum(len(names) for layer in layers for names in layer.neurons or ())
    heads = sum(len(layer.heads) for layer in layers)
    total = 2 * d * len(layers) + heads * (key + value) + neurons
    if total > MOST_COORDINATES:
        what = "the layers have too many coordinates"
        refuse(shapes.path, what, f"at most {MOST_COORDINATES}", total)
    return key, value


def _layout(entry: JsonObject, rules: tuple[str, ...]) -> Layout:
    """Return the layout: lengths, base and base^(levels - 1) are at most the window."""
    entry.only(
        *("construction", "levels", "base", "capacity", "lengths", "offsets", "window"),
    )
    table = entry.table("lengths")
    lengths = {rule: table.integer(rule, 1, LONGEST) for rule in (*rules, *table.entries)}
    offsets = [lengths[rule] - 1 for rule in rules]
    window = window_for(offsets)
    entry.equals("offsets", offsets)
    entry.equals("window", window)
    for rule in lengths:
        table.integer(rule, 1, window)
    levels = entry.integer("levels", 1, LONGEST.bit_length())
    base = entry.integer("base", 2, max(2, window))
    if base ** (levels - 1) > window:
        entry.refuse("levels", f"base^(levels - 1) at most the window, {window}")
    capacity = entry.integer("capacity", 1, MOST_CELLS)
    return Layout(entry.text("construction"), levels, base, lengths, capacity)


def _prompt(entry: JsonObject, factors: tuple[Factor, ...]) -> Prompt:
    """Return how to write a prompt; every token that it can say is one of the model's."""
    entry.only("receivers", "start", "symbols", "fill", "parity")
    values = {factor.name: factor.values for factor in factors}
    parity = entry.is_one_of("parity", tuple(values), "the name of a factor")
    if not {"0", "1"} <= set(values[parity]):
        entry.refuse("parity", "a factor with the values 0 and 1")
    others = [name for name in values if name != parity]
    receivers = entry.texts("receivers")
    if not set(receivers) <= set(others):
        entry.refuse("receivers", "names of factors, without the parity")
    fill = entry.table("fill").only(*others)
    for name in others:
        fill.is_one_of(name, values[name], "a value of that factor")
    heard = set.intersection(*(set(values[name]) for name in receivers)) if receivers else set()
    symbols = entry.table("symbols")
    for symbol in symbols.entries:
        symbols.is_one_of(symbol, tuple(heard), "a value of every receiver")
    start = entry.text("start")
    if start and start not in heard:
        entry.refuse("start", "a value of every receiver, or nothing")
    return Prompt(receivers, start, symbols.mapping(), fill.mapping(), parity)


def _answer(
    entry: JsonObject, factors: tuple[Factor, ...], layout: Layout, parity: str
) -> Mapping[str, object]:
    """Return how to read the answer, as `Config` promises it."""
    entry.only(*ANSWER)
    values = {factor.name: factor.values for factor in factors}
    for key, needed in (("verdict", "run"), ("stepped", "0"), ("state", ""), ("grow", "0")):
        if key != "grow" or entry.text(key):
            name = entry.is_one_of(key, tuple(values), "the name of a factor")
            if needed and needed not in values[name]:
                entry.refuse(key, f"a factor with the value {quoted(needed)}")
    if not set(values[entry.text("verdict")]) <= set(VERDICTS):
        entry.refuse("verdict", "a factor with values among " + ", ".join(VERDICTS))
    counts = values[entry.text("stepped")]
    if len(counts) < 2 or set(counts) != {str(n) for n in range(len(counts))}:
        entry.refuse("stepped", "a factor with the values 0, 1 and so on")
    if not set(entry.texts("queue_rules")) <= layout.lengths.keys():
        entry.refuse("queue_rules", "rules that have a length")
    _check_loading(entry.table("loading").only("factor", "values"), values)
    entry.text("blank")
    entry.flag("spaced")
    names = [name for name in values if name != parity]
    _check_reading(entry.table("reading"), names, layout)
    return entry.entries


def _check_loading(loading: JsonObject, values: Mapping[str, tuple[str, ...]]) -> None:
    """Check the factor, if any, that marks tokens which only bring the input to its place."""
    if not loading.text("factor"):
        loading.equals("values", [])
        return
    name = loading.is_one_of("factor", tuple(values), "the name of a factor, or nothing")
    if not set(loading.texts("values")) <= set(values[name]):
        loading.refuse("values", "values of that factor")


def _check_reading(reading: JsonObject, names: list[str], layout: Layout) -> None:
    for key in reading.entries:
        if key in NUMBERS:
            reading.integer(key, 1, layout.levels if key == "levels" else len(names))
        elif key in LISTS_OF_LISTS:
            reading.text_lists(key)
        elif key not in LISTS:
            reading.text(key)
    reading.equals("factors", names)
    if "construction" in reading.entries:
        reading.equals("construction", layout.construction)
