"""The command line as a user sees it: output, JSON, exit status, messages."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tapeformer.cli.app import COMMANDS
from tests import forked
from tests.simulator.test_published import BEAVERS, CASES, DATA


def tapeformer(*words: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return server().run(words, stdin or "")


@cache
def server() -> forked.Server:
    """A process that has imported what most commands need."""
    used = ("inference.run", "inference.batch.run", "inference.compare", "engines.native.engine")
    modules = (*(f"cli.{command}" for command in COMMANDS), *used)
    imported = ["torch", *(f"tapeformer.{name}" for name in modules)]
    return forked.Server("tapeformer.__main__:main", imported)


def record(*words: str, status: int = 0) -> dict[str, Any]:
    done = tapeformer(*words, "--json")
    assert done.returncode == status, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


STATUS = {"accept": 0, "halt": 0, "reject": 1}


@pytest.mark.parametrize(("name", "case"), CASES)
def test_simulate_published(name: str, case: dict[str, Any]) -> None:
    status = STATUS[case["outcome"]]
    got = record("simulate", str(DATA / f"{name}.txt"), case["input"], status=status)
    assert {key: got[key] for key in case if key != "input"} == {
        key: value for key, value in case.items() if key != "input"
    }
    assert {"machine", "heads", "space", "seconds"} <= got.keys()


def test_simulate_a_busy_beaver_string() -> None:
    row = max((r for r in BEAVERS if int(r["steps"]) < 10**6), key=lambda r: int(r["steps"]))
    got = record("simulate", row["machine"])
    assert got["steps"] == int(row["steps"])
    assert got["non_blank"] == [int(row["non_blank"])]
    assert got["outcome"] == "halt"


def test_heads_are_counted_from_the_first_printed_cell() -> None:
    assert record("simulate", "1RB1LB_1LA1RZ")["heads"] == [2]
    assert record("simulate", "0RB---_------")["heads"] == [0]
    assert record("simulate", "1LB---_0LZ---")["heads"] == [-2]


def test_step_limit_and_space_limit() -> None:
    limited = record("simulate", "busy_beaver_4", "--max-steps", "10", status=3)
    assert (limited["outcome"], limited["steps"]) == ("limit", 10)
    full = record("simulate", "1RA1RA", "--max-cells", "100", status=4)
    assert full["outcome"] == "out_of_space"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("simulate", "palindrome", "abxa"),
            "character 3: error: symbol 'x' is not in the alphabet",
        ),
        (("simulate", "no/such/file.txt"), "no/such/file.txt: error: there is no such file"),
        (("simulate", "palindrom"), "did you mean palindrome"),
        (("simulate", "palindrome", "xab"), "use only these symbols; --symbols NAMES adds some"),
        (("run", "nofile.model", "a"), "also the folder of a bundle"),
        (("rnu", "palindrome"), "No such command 'rnu'. Did you mean run?"),
        (("compile", "palindrome", "--until", "circut"), "did you mean circuit?"),
        (("simulate", "palindrome", "a b", "--spaced", "--max-steps", "-1"), "--max-steps"),
        (("simulate", "palindrome", "--format", "xml"), "unknown format 'xml'"),
        (("simulate", "palindrome", "--accept", "nirvana"), "there is no state 'nirvana'"),
        (("convert", "palindrome", "--to", "nju"), "no writer for the format 'nju'; expected one"),
        (("convert", "palindrome", "--to", "morphet"), "did you mean morphett?"),
        (("convert", "binary_addition", "--to", "morphett"), "it has several tapes"),
        (("show", "palindrome", "--svg", "/no/such/folder/x.svg"), "cannot be written"),
    ],
)
def test_bad_input_is_one_message_and_status_2(words: tuple[str, ...], expected: str) -> None:
    done = tapeformer(*words)
    assert done.returncode == 2
    assert expected in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "the file is empty; put a machine in it"),
        ("init: a\naccept: b\na,0\na,0,>\na,0\nb,0,>\n", ":5: error: two rules in conflict"),
        ("just some words", "no known machine format; expected one of busy-beaver"),
    ],
)
def test_bad_files_name_the_place_and_the_remedy(text: str, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.txt"
    file.write_text(text)
    done = tapeformer("simulate", str(file), "0")
    assert done.returncode == 2
    assert str(file) in done.stderr
    assert expected in done.stderr


def test_warnings_do_not_stop_the_work(tmp_path: Path) -> None:
    file = tmp_path / "twice.txt"
    file.write_text("init: a\naccept: b\na,0\nb,0,>\na,0\nb,0,>\n")
    done = tapeformer("simulate", str(file), "0", "--json")
    assert done.returncode == 0
    assert "warning: the rule for state 'a' reading '0' is repeated" in done.stderr
    assert json.loads(done.stdout)["outcome"] == "accept"


def test_machine_from_standard_input() -> None:
    done = tapeformer("simulate", "-", "11", "--json", stdin="0 1 0 r 0\n0 _ _ * halt\n")
    assert json.loads(done.stdout)["tapes"] == ["00"]


def test_overrides() -> None:
    flipper = "0 1 0 r 0\n0 _ _ * halt-no\n"
    done = tapeformer("simulate", "-", "1", "--reject", "halt-no", "--json", stdin=flipper)
    assert json.loads(done.stdout)["outcome"] == "reject"
    assert done.returncode == 1
    done = tapeformer("simulate", "-", "1", "--accept", "halt-no", "--json", stdin=flipper)
    assert json.loads(done.stdout)["outcome"] == "accept"


def test_morphett_head_mark() -> None:
    done = tapeformer("simulate", "-", "01*0", "--json", stdin="0 0 x * halt\n0 1 1 r 0\n")
    assert json.loads(done.stdout)["tapes"] == ["01x"]


def test_trace_is_short_unless_all() -> None:
    short = tapeformer("simulate", "busy_beaver_4", "--trace").stdout
    whole = tapeformer("simulate", "busy_beaver_4", "--trace", "--all").stdout
    assert "configurations left out (--all shows them)" in short
    assert short.count("\nstep ") < 25
    assert whole.count("\nstep ") == 107
    assert "[1]" in short


def test_trace_in_json() -> None:
    got = record("simulate", "busy_beaver_2", "--trace")
    assert [entry["step"] for entry in got["trace"]] == list(range(7))


def test_machines_lists_the_gallery() -> None:
    text = tapeformer("machines").stdout
    listed = record("machines")["machines"]
    assert len(listed) >= 24
    assert all(entry["machine"] in text for entry in listed)


def test_show_table_json_and_diagram(tmp_path: Path) -> None:
    file = tmp_path / "palindrome.svg"
    text = tapeformer("show", "palindrome", "--svg", str(file)).stdout
    assert "infinite both ways" in text
    root = xml.etree.ElementTree.parse(file).getroot()
    states = [
        r for r in root.iter("{http://www.w3.org/2000/svg}rect") if "state" in r.get("class", "")
    ]
    got = record("show", "palindrome")
    assert len(states) == len(got["states"])
    assert len(got["rules"]) > 10


def test_convert_writes_a_file_that_runs_alike(tmp_path: Path) -> None:
    file = tmp_path / "machine.txt"
    done = tapeformer("convert", "binary_increment", "--to", "morphett", "-o", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    assert record("simulate", str(file), "1011")["tapes"] == ["1100"]
    assert [path.name for path in tmp_path.iterdir()] == ["machine.txt"]


def processor_seconds(process: int) -> float:
    """The time a process has computed: on a busy machine it comes later than on a quiet one."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_control_c_tells_what_is_known_so_far() -> None:
    command = [sys.executable, "-m", "tapeformer", "simulate", "busy_beaver_5", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        while processor_seconds(running.pid) < 1.5:
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        output, _ = running.communicate(timeout=20)
    answer = json.loads(output)
    assert running.returncode == 130
    assert answer["interrupted"]
    assert answer["outcome"] == "limit"
    assert answer["steps"] > 0


def test_help_and_version_load_nothing_heavy() -> None:
    code = "import sys, tapeformer.cli.app as a; print(sorted({'torch', 'numpy', 'yaml', 'matplotlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert tapeformer("--help").returncode == 0
    assert tapeformer("--version").stdout.startswith("tapeformer ")


def test_a_closed_pipe_is_no_error() -> None:
    run = f"{sys.executable} -m tapeformer"
    commands = ("simulate busy_beaver_4 --trace --all", "run palindrome abba --show", "--help")
    for command in (*commands, "nonsense 2>&1", "show nothing 2>&1"):
        script = f"{run} {command} | true; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (141, ""), command


def test_a_batch_whose_reader_is_gone_answers_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("ab\n" * 300)
    run = f"{sys.executable} -m tapeformer run palindrome --levels 4 --batch words"
    script = f"{run} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (141, "")
    assert len((tmp_path / "words.answers.jsonl").read_text().splitlines()) == 300


def test_the_limit_of_cells_is_exact() -> None:
    full = record("simulate", "busy_beaver_4", "--max-cells", "3", status=4)
    assert (full["outcome"], full["space"]) == ("out_of_space", 4)
    assert record("simulate", "busy_beaver_4", "--max-cells", "14")["outcome"] == "halt"


def test_morphett_tapes_are_read_as_the_site_does() -> None:
    text = "; words. $INITIAL_TAPE: 11 11\n0 1 1 r 0\n0 _ _ r b\nb 1 0 r halt\n"
    done = tapeformer("simulate", "-", "--file-input", "--json", stdin=text)
    assert json.loads(done.stdout)["tapes"] == ["11_01"]
    done = tapeformer("simulate", "-", "11 1", "--json", stdin=text)
    assert json.loads(done.stdout)["tapes"] == ["11_0"]
    marked = tapeformer("simulate", "-", "--file-input", stdin=text.replace("11 11", "1*1"))
    assert (marked.returncode, marked.stdout) == (2, "")
    assert "states no usable input" in marked.stderr


def test_standard_input_is_checked_like_a_file() -> None:
    command = [sys.executable, "-m", "tapeformer", "simulate", "-"]
    for data in (b"0 \xff 1 r 0\n", b"0 1 1 r 0\n\x00", "é".encode() * 2_100_000):
        done = subprocess.run(command, input=data, capture_output=True)
        assert done.returncode == 2
        assert b"standard input" in done.stderr


def test_output_that_cannot_be_written() -> None:
    command = f"{sys.executable} -m tapeformer machines > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.returncode == 2
    assert "standard output cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_names_that_are_too_long_are_told_as_such() -> None:
    name = "a" * 300
    for words, message in (
        (("run", name), "error: no machine 'aaa"),
        (("dataset", "palindrome", "-o", name), "error: File name too long: 'aaa"),
    ):
        done = tapeformer(*words)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert done.stderr.startswith(message)


@pytest.mark.parametrize("command", ["machines", "run palindrome ab", "--version"])
def test_a_closed_standard_output_is_an_error(command: str) -> None:
    line = f"{sys.executable} -m tapeformer {command} >&-"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "error: standard output is closed\n")


def test_next_to_nothing_is_loaded_before_the_command_line_has_control() -> None:
    """Ctrl-C while the package itself is imported would end in a traceback."""
    code = "import sys, tapeformer.__main__; print([n for n in sys.modules if 'tapeformer' in n])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['tapeformer', 'tapeformer.__main__']"


def test_control_c_while_modules_load_prints_no_traceback() -> None:
    code = (
        "import importlib, os, signal, sys, tapeformer.__main__ as m\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'tapeformer.cli.app': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupted()); m.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


def test_handlers_of_atexit_run_and_the_status_stays() -> None:
    code = (
        "import atexit, sys, tapeformer.__main__ as m\n"
        "atexit.register(lambda: print('ended', file=sys.stderr, end=''))\n"
        "sys.argv = ['tapeformer', 'simulate', 'palindrome', 'ab']; m.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "ended")
    assert "rejected" in done.stdout


def test_a_profiler_gets_to_its_end() -> None:
    command = [sys.executable, "-m", "cProfile", "-m", "tapeformer", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "function calls" in done.stdout
