"""compile, run, verify, info as a user sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import record, tapeformer

KEYS = [
    "machine",
    "construction",
    "engine",
    "outcome",
    "state",
    "steps",
    "tapes",
    "heads",
    "levels",
    "base",
    "capacity",
    "prompt_tokens",
    "boot_tokens",
    "cot_tokens",
    "window",
    "offsets",
    "attention_heads",
    "layers",
    "ff_depth",
    "d_model",
    "parameters",
    "nonzero_parameters",
    "parameter_bits",
    "margin",
    "seconds",
    "tokens_per_second",
]
PAPER = ("--construction", "paper")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundles") / "palindrome"
    done = tapeformer(
        "compile", "palindrome", *PAPER, "--levels", "2", "--base", "4", "-o", str(folder)
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_run_json_has_all_keys() -> None:
    got = record("run", "palindrome", "abba", *PAPER, "--levels", "2")
    assert set(KEYS) <= got.keys()
    assert (got["outcome"], got["steps"], got["tapes"]) == ("accept", 15, [""])
    assert got["margin"] >= 1
    assert got["prompt_tokens"] == 5


def test_a_bundle_runs_like_its_machine(bundle: Path) -> None:
    assert sorted(path.name for path in bundle.iterdir()) == [
        "config.json",
        "machine.yaml",
        "model.safetensors",
    ]
    assert record("run", str(bundle), "abba")["outcome"] == "accept"
    assert record("run", str(bundle), "ab", status=1)["outcome"] == "reject"


def test_traces_compare_byte_by_byte(bundle: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{engine}.jsonl" for engine in ("dense", "sparse")]
    for file in files:
        tapeformer("run", str(bundle), "abba", "--engine", file.stem, "--trace", str(file))
    texts = [file.read_text() for file in files]
    assert texts[0] == texts[1]
    factors = json.loads((bundle / "config.json").read_text())["factors"]
    assert all(len(json.loads(line)) == len(factors) for line in texts[0].splitlines())


def test_limits() -> None:
    size = (*PAPER, "--levels", "1", "--base", "8")
    limited = record("run", "palindrome", "abba", *size, "--max-steps", "3", status=3)
    assert (limited["outcome"], limited["steps"]) == ("limit", 3)
    full = record("run", "1RA1RA", *PAPER, "--levels", "1", "--base", "4", status=4)
    assert full["outcome"] == "out_of_space"
    direct = record("simulate", "1RA1RA", "--max-steps", str(full["steps"]), status=3)
    assert (full["tapes"], full["heads"]) == (direct["tapes"], direct["heads"])


def test_verify_agrees_and_checks_claims() -> None:
    done = tapeformer("verify", "palindrome", "abba", "ab", *PAPER, "--levels", "2", "--claims")
    assert done.returncode == 0
    assert done.stdout.count(" agree (") == 2
    assert "claims held: (a)" in done.stdout
    got = record("verify", "palindrome", "ab", *PAPER, "--levels", "1")
    assert got["words"][0]["agreed"]


def test_info_explains(bundle: Path) -> None:
    text = tapeformer("info", str(bundle)).stdout
    assert "4 attention heads in 1 layer, looking back 3, 5, 15, 27" in text
    assert "because a queue of length" in tapeformer("info", str(bundle), "--head", "1").stdout
    assert "reads" in tapeformer("info", str(bundle), "--neuron", "17").stdout
    assert "verdict=run" in tapeformer("info", str(bundle), "--field", "verdict=run").stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--base", "3"), "base 3 makes queues of odd length"),
        (("--construction", "realtime", "--base", "1"), "give --base 2"),
        (("--construction", "realtime", "--base", "0"), "give --base 2"),
        (("--levels", "0", "--base", "4"), "a stack needs a level"),
        (("--levels", "1", "--base", "4", "--space", "9"), "is too small for 9 cells"),
        (("--base", "4", "--layers", "3"), "do not split evenly into layers"),
        (("--base", "2", "--levels", "1"), "the input is too long"),
        (("--base", "4", "--engine", "steam"), "there is no engine"),
        (("--construction", "magic", "--base", "4"), "there is no construction 'magic'"),
        (("--heads", "seven"), "Invalid value for '--heads'"),
    ],
)
def test_impossible_options(words: tuple[str, ...], expected: str) -> None:
    given = words if "--construction" in words else (*PAPER, *words)
    done = tapeformer("run", "palindrome", "abbaabba", *given)
    assert done.returncode == 2, done.stdout
    assert expected in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_compile_needs_a_size(tmp_path: Path) -> None:
    done = tapeformer("compile", "palindrome", *PAPER, "-o", str(tmp_path / "x"))
    assert done.returncode == 2
    assert "give --space" in done.stderr
    assert not (tmp_path / "x").exists()


def test_bundles_that_were_changed(bundle: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in bundle.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    weights = bytearray((broken / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (broken / "model.safetensors").write_bytes(weights)
    done = tapeformer("run", str(broken), "abba")
    assert done.returncode == 2
    assert "model.safetensors" in done.stderr
    assert "Traceback" not in tapeformer("run", str(broken), "abba", "--allow-modified").stderr
    (broken / "model.safetensors").unlink()
    assert "model.safetensors" in tapeformer("run", str(broken), "abba").stderr


def test_a_bundle_takes_no_options_on_compiling(bundle: Path) -> None:
    done = tapeformer("run", str(bundle), "abba", "--levels", "3")
    assert done.returncode == 2
    assert "already compiled" in done.stderr


@pytest.mark.parametrize(
    ("table", "word", "verdict"),
    [
        ("balanced", "abba", "accept"),
        ("balanced", "aab", "reject"),
        ("echo", "", None),
        ("meeting", "", None),
    ],
)
def test_hand_written_queue_machines_run_three_ways(
    table: str, word: str, verdict: str | None
) -> None:
    got = record("queue", table, word)
    assert got["transformer_agrees"]
    assert got["appendix_b_agrees"] in (True, None)
    assert verdict in (None, got["verdict"])


@pytest.mark.parametrize(
    "words",
    [
        ("--dtype", "float64"),
        ("--dtype", "bfloat16"),
        ("--attention", "rightmost"),
        ("--attention", "averaging"),
        ("--attention", "softmax", "--temperature", "0.005"),
        ("--position", "bias"),
        ("--dtype", "float32", "--engine", "sparse"),
    ],
)
def test_variants_of_an_engine_give_the_same_trace_file(
    bundle: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    engine = () if "--engine" in words else ("--engine", "dense")
    plain, other = tmp_path / "plain", tmp_path / "other"
    assert tapeformer("run", str(bundle), "ab", "--trace", str(plain)).returncode == 1
    assert (
        tapeformer("run", str(bundle), "ab", *engine, *words, "--trace", str(other)).returncode == 1
    )
    assert plain.read_bytes() == other.read_bytes()


def test_a_run_without_levels_grows_and_tells() -> None:
    got = record("run", "busy_beaver_4")
    assert got["construction"] == "realtime"
    assert got["cot_tokens"] - got["boot_tokens"] == got["steps"] == 107
    assert got["attention_heads"] == got["levels"] - 1
    assert "grown" in got
    fixed = record("run", "1RA1RA", "--levels", "2", status=4)
    assert (fixed["outcome"], fixed["steps"]) == ("out_of_space", fixed["capacity"])
