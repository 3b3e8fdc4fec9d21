"""The results of a campaign: lines of JSON, a score, and the survivors with their reasons."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

Record = dict[str, Any]
EQUIVALENT = "equivalent:"


class Results:
    """A file of results that grows by a line as each mutant ends; the last line of a mutant counts."""

    def __init__(self, file: Path) -> None:
        self.file, self.records = file, dict[str, Record]()
        if file.exists():
            lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
            self.records = {line["mutant"]: line for line in lines}

    def add(self, record: Record) -> None:
        """Note a result, at once also in the file."""
        self.records[record["mutant"]] = record
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")

    def survivors(self) -> list[Record]:
        """List what no test has noticed."""
        return [record for record in self.records.values() if record["status"] == "survived"]

    def tidy(self) -> None:
        """Write the file anew, in the order of the names, without lines that no longer count."""
        ordered = [self.records[name] for name in sorted(self.records)]
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in ordered)
        self.file.write_text(lines, encoding="utf-8")


def told(results: Results, explained: dict[str, str]) -> int:
    """Print the score and the survivors; return how many have no explanation."""
    survivors = results.survivors()
    equivalent = [r for r in survivors if explained.get(r["mutant"], "").startswith(EQUIVALENT)]
    counts = Counter(record["status"] for record in results.records.values())
    print(f"{len(results.records)} mutants: {dict(counts)}, {len(equivalent)} equivalent")
    judged, killed = len(results.records) - len(equivalent), counts["killed"] + counts["timeout"]
    print(f"score {killed / max(judged, 1):.1%} of {judged} that are not equivalent")
    for record in survivors:
        reason = explained.get(record["mutant"], "NOT EXPLAINED")
        change = f"{record['before']!r} -> {record['after']!r}"
        print(f"  {record['file']}:{record['line']}: {change}: {reason}")
    return sum(record["mutant"] not in explained for record in survivors)
