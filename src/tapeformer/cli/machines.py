"""`tapeformer machines`: list the gallery."""

from __future__ import annotations

from tapeformer.cli.options import Json
from tapeformer.cli.output import print_json, print_table


def machines(as_json: Json = False) -> None:
    """List the gallery, one line each."""
    from tapeformer.gallery import gallery_machine, gallery_names

    listed = [gallery_machine(name) for name in gallery_names()]
    if as_json:
        entries = [
            {
                "machine": machine.name,
                "tapes": machine.tapes,
                "states": len(machine.states),
                "symbols": len(machine.symbols),
                "rules": len(machine.rules),
                "description": machine.description,
            }
            for machine in listed
        ]
        print_json({"machines": entries})
        return
    from tapeformer.drawing.tables import gallery_table

    print_table(gallery_table(listed))
