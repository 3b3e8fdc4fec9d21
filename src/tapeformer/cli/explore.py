"""`tapeformer explore`: see a Transformer compute, in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tapeformer.cli import options as shared
from tapeformer.cli.models import AllowModified, compile_options
from tapeformer.cli.options import Reading, provides, reading
from tapeformer.cli.output import write_file

if TYPE_CHECKING:
    from tapeformer.compile.options import CompileOptions
    from tapeformer.explorer.session import Session

MachineOrNone = Annotated[
    str | None,
    typer.Argument(
        metavar="[MACHINE]",
        help=shared.MACHINE_HELP + " Or the folder of a compiled bundle.",
        show_default=False,
    ),
]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")]
Port = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="The port to listen on; 0 picks a free one.")
]
Export = Annotated[
    Path | None, typer.Option("--export", help="Write the run as one page to this file, and exit.")
]
Png = Annotated[
    Path | None, typer.Option("--png", help="Write a picture of the page to this file, and exit.")
]
Svg = Annotated[
    Path | None, typer.Option("--svg", help="Write a picture of a view to this file, and exit.")
]
View = Annotated[str, typer.Option("--view", help="The view of --svg: rings, strip or attention.")]
Token = Annotated[
    int | None, typer.Option("--token", min=0, help="The token that a picture shows.")
]
Dark = Annotated[bool, typer.Option("--dark", help="Pictures in dark colours.")]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=1, help="Record no more tokens than this.")
]


@provides(asked=reading, options=compile_options)
def session(
    asked: Reading,
    options: CompileOptions,
    machine: MachineOrNone = None,
    word: Annotated[
        str | None,
        typer.Argument(metavar="[INPUT]", help="The word on tape 1.", show_default=False),
    ] = None,
    spaced: shared.Spaced = False,
    allow_modified: AllowModified = False,
    max_tokens: MaxTokens = None,
) -> Session:
    """Find the machine and its input; without any, one of the gallery."""
    from tapeformer.explorer.open import opened_session

    return opened_session(
        machine,
        word,
        options,
        reading=(asked.format_name, asked.conventions),
        spaced=spaced,
        allow_modified=allow_modified,
        max_tokens=max_tokens,
    )


@provides(session=session)
def explore(
    session: Session,
    port: Port = 0,
    no_open: NoOpen = False,
    export: Export = None,
    png: Png = None,
    svg: Svg = None,
    view: View = "rings",
    token: Token = None,
    dark: Dark = False,
) -> None:
    """Show tapes, rings, tokens and attention of a run in the browser."""
    if export is None and png is None and svg is None:
        from tapeformer.explorer.launch import serve

        serve(session, port, not no_open)
        return
    from tapeformer.explorer.export import exported
    from tapeformer.explorer.pictures import Shot, page_png, view_svg

    session.record()
    page = exported(session)
    if export is not None:
        write_file(export, page)
    shot = Shot(view, token, "dark" if dark else "light")
    if png is not None:
        page_png(page, png, shot)
    if svg is not None:
        write_file(svg, view_svg(page, shot))
