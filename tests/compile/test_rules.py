"""A bundle knows the file and line of each rule, whatever the machine was read from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tapeformer import gallery_machine, gallery_names, load
from tapeformer.bundle.load import load_bundle
from tapeformer.bundle.record import RuleOrigin
from tapeformer.bundle.save import bundle_files, save_bundle
from tapeformer.compile.model import compile_machine
from tapeformer.compile.options import CompileOptions
from tapeformer.compile.rules import rule_origins
from tapeformer.formats.registry import dumps, loads
from tapeformer.gallery import gallery_text
from tests.strategies import random_machine

POST = CompileOptions("post", space=8)


@pytest.mark.parametrize("name", gallery_names())
def test_rules_of_the_gallery_are_on_the_lines_that_are_named(name: str) -> None:
    machine = gallery_machine(name)
    lines = gallery_text(name).splitlines()
    for rule, origin in zip(machine.rules, rule_origins(machine), strict=True):
        assert origin.source == f"gallery/{name}.yaml"
        assert origin.line is not None
        entry = " ".join(lines[origin.line - 1 : origin.line + 1])
        assert rule.next_state in (rule.state, *re.findall(r"[\w?]+", entry))
        assert str(origin).endswith(f"(gallery/{name}.yaml:{origin.line})")


@pytest.mark.parametrize("format_name", ["morphett", "turingmachine.io"])
def test_a_file_is_named_without_its_folder(tmp_path: Path, format_name: str) -> None:
    file = tmp_path / "sub" / "mine.txt"
    file.parent.mkdir()
    file.write_text(dumps(gallery_machine("busy_beaver_2"), format_name), encoding="utf-8")
    origins = rule_origins(load(file, format_name))
    assert {origin.source for origin in origins} == {"mine.txt"}
    lines = file.read_text(encoding="utf-8").splitlines()
    for origin in origins:
        assert origin.line is not None
        assert lines[origin.line - 1].strip()
    bundle = compile_machine(load(file, format_name), POST)
    for content in bundle_files(bundle).values():
        assert str(tmp_path).encode() not in content


def test_rules_without_a_file_have_their_text_only() -> None:
    origins = rule_origins(random_machine(3, tapes=1, odd_names=True))
    assert {origin.source for origin in origins} == {""}
    assert all(" -> " in str(origin) and "\t" not in str(origin) for origin in origins)


def test_a_busy_beaver_string_is_its_own_first_line() -> None:
    first = rule_origins(loads("1RB1LB_1LA1RZ", "MACHINE"))[0]
    assert first == RuleOrigin("A 0 -> B 1 R", "MACHINE", 1)


def test_rules_are_kept_in_a_bundle(tmp_path: Path) -> None:
    bundle = compile_machine(gallery_machine("busy_beaver_2"), POST)
    assert bundle.rules == rule_origins(gallery_machine("busy_beaver_2"))
    save_bundle(bundle, tmp_path / "model")
    assert load_bundle(tmp_path / "model").rules == bundle.rules
    config = json.loads(bundle_files(bundle)["config.json"])
    assert config["rules"][0].keys() == {"text", "source", "line"}
