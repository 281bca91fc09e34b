"""The command line of helix-gen: what each command takes, and nothing else.

Only typer is imported here: `--help` must start at once. A command's own module is
imported when it is called.
"""

from pathlib import Path
from typing import Annotated, Literal

import typer

from . import __version__

app = typer.Typer(
    name="helix-gen",
    help="Generate an eval suite you own from an agentspec.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Plain help: rich alone would double the time that --help takes.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Spec = Annotated[
    str, typer.Argument(metavar="SPEC", help="The agentspec file, or - for stdin.")
]
Overlay = Annotated[
    Path | None,
    typer.Option(
        "--overlay",
        metavar="FILE",
        help="The overlay (default: STEM.evals.yaml beside the spec, if there).",
    ),
]
Engine = Annotated[
    Literal["auto", "code-written", "native-matrix"],
    typer.Option("--engine", help="How the suite judges."),
]
Target = Annotated[
    str | None,
    typer.Option("--target", metavar="ID", help="The build target, of several."),
]
Items = Annotated[
    list[str] | None,
    typer.Option(
        "--items",
        metavar="DATASET=FILE",
        help="The items of a dataset; may be given several times.",
    ),
]


@app.callback(invoke_without_command=True)
def helix_gen(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.")
    ] = False,
) -> None:
    """Generate an eval suite you own from an agentspec."""
    if version:
        typer.echo(f"helix-gen {__version__}")
        raise typer.Exit()


_MORE = {"allow_extra_args": True}
"""Of `--traces FILE FILE`, the second file comes as an extra argument."""


@app.command(context_settings=_MORE)
def suite(
    context: typer.Context,
    spec: Spec,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="DIR",
            help="The suite's folder (default: ./SLUG-evals).",
        ),
    ] = None,
    overlay: Overlay = None,
    engine: Engine = "auto",
    target: Target = None,
    traces: Annotated[
        list[Path] | None,
        typer.Option(
            "--traces",
            metavar="FILE...",
            help="Also write packets from these recorded traces.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="M",
            help="With --traces: the exact model that will judge the packets.",
        ),
    ] = None,
    items: Items = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Write nothing; exit 1 and show the diff where it differs."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing; show what would happen.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object in place of text.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print problems only.")
    ] = False,
) -> None:
    """Generate the suite of an agentspec, or bring it up to date.

    Exit codes: 0 done, 1 --check found drift, 2 bad spec, overlay or arguments,
    3 done, with edits it would not touch (conflicts).
    """
    if check and dry_run:
        raise typer.BadParameter("--check and --dry-run: choose one")
    if context.args and not traces:
        raise typer.BadParameter(f"one SPEC at a time; what is {context.args[0]!r}?")
    if model is not None and not traces:
        raise typer.BadParameter("--model goes with --traces")
    from .generate import Request, execute

    request = Request(
        spec=spec,
        out=out,
        overlay=overlay,
        engine=engine,
        target=target,
        items=items or (),
        traces=[*(traces or ()), *map(Path, context.args)],
        model=model,
        mode="check" if check else "dry-run" if dry_run else "write",
        json=json,
        quiet=quiet,
    )
    raise typer.Exit(execute(request))


@app.command()
def lint(
    spec: Spec,
    overlay: Overlay = None,
    public: Annotated[
        bool, typer.Option("--public", help="Refuse what only internal cards have.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 2 for warnings too.")
    ] = False,
    format: Annotated[
        Literal["text", "json", "github"],
        typer.Option("--format", help="How problems are printed."),
    ] = "text",
) -> None:
    """Find every problem of a spec and of its eval design at once.

    Exit codes: 0 none or only warnings, 2 errors (--strict: warnings too).
    """
    from .linting import execute

    code = execute(
        spec=spec, overlay=overlay, public=public, strict=strict, format=format
    )
    raise typer.Exit(code)


@app.command(context_settings=_MORE)
def packets(
    context: typer.Context,
    spec: Spec,
    traces: Annotated[
        list[Path],
        typer.Option("--traces", metavar="FILE...", help="The recorded traces."),
    ],
    model: Annotated[
        str,
        typer.Option("--model", metavar="M", help="The exact model that will judge."),
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="DIR", help="Where to write.")
    ],
    overlay: Overlay = None,
    target: Target = None,
    items: Items = None,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print problems only.")
    ] = False,
) -> None:
    """Write packets for a host's judging agents, without a suite.

    Exit codes: 0 done, 2 bad spec, overlay, traces or arguments.
    """
    from .packing import execute

    code = execute(
        spec=spec,
        traces=[*traces, *map(Path, context.args)],
        model=model,
        out=out,
        overlay=overlay,
        target=target,
        items=items or (),
        quiet=quiet,
    )
    raise typer.Exit(code)


@app.command()
def schema(
    name: Annotated[
        Literal["agentspec-0.2", "agentspec-0.3", "overlay"],
        typer.Argument(help="Which format."),
    ],
) -> None:
    """Print a JSON Schema for editors."""
    import json

    from .spec.schema import json_schema

    typer.echo(json.dumps(json_schema(name), indent=2))
