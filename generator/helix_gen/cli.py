"""The command line of helix-gen: what each command takes, and nothing else.

Only typer is imported here: `--help` must start at once. A command's own module is
imported when it is called.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from . import __version__

if TYPE_CHECKING:
    from .generate import Request

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
EngineName = Literal["auto", "code-written", "native-matrix"]
ConflictName = Literal["yours", "markers"]
Engine = Annotated[
    EngineName,
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
TraceFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="The format of the traces (default: found by their content).",
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
    format: TraceFormat = None,
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
    diff: Annotated[
        bool, typer.Option("--diff", help="Write nothing; show the diff alone.")
    ] = False,
    conflict: Annotated[
        ConflictName,
        typer.Option(
            "--conflict",
            help="What stands in a file where you and helix-gen changed the same.",
        ),
    ] = "yours",
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild",
            help="Make a broken or missing manifest anew from what is there.",
        ),
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
    from .generate import execute

    request = _request(
        context.args,
        spec=spec,
        out=out,
        overlay=overlay,
        engine=engine,
        target=target,
        traces=traces,
        model=model,
        format=format,
        items=items,
        check=check,
        dry_run=dry_run,
        diff=diff,
        conflict=conflict,
        rebuild=rebuild,
        json=json,
        quiet=quiet,
    )
    raise typer.Exit(execute(request))


def _request(
    extra: Sequence[str],
    *,
    spec: str,
    out: Path | str | None,
    overlay: Path | str | None,
    engine: EngineName,
    target: str | None,
    traces: Sequence[Path | str] | None,
    model: str | None,
    format: str | None,
    items: Sequence[str] | None,
    check: bool,
    dry_run: bool,
    diff: bool,
    conflict: ConflictName,
    rebuild: bool,
    json: bool,
    quiet: bool,
) -> "Request":
    """Return what `suite` is asked for. Raises typer.BadParameter."""
    if check + dry_run + diff > 1:
        raise typer.BadParameter("--check, --dry-run and --diff: choose one")
    if extra and not traces:
        raise typer.BadParameter(f"one SPEC at a time; what is {extra[0]!r}?")
    if model is not None and not traces:
        raise typer.BadParameter("--model goes with --traces")
    if format is not None and not traces:
        raise typer.BadParameter("--format goes with --traces")
    from .generate import Request

    return Request(
        spec=spec,
        out=None if out is None else Path(out),
        overlay=None if overlay is None else Path(overlay),
        engine=engine,
        target=target,
        items=items or (),
        traces=[Path(path) for path in (*(traces or ()), *extra)],
        model=model,
        format=format,
        mode=(
            "check" if check else "dry-run" if dry_run else "diff" if diff else "write"
        ),
        conflict=conflict,
        rebuild=rebuild,
        json=json,
        quiet=quiet,
    )


def shortcut(arguments: Sequence[str]) -> "Request | None":
    """Return the request of a plain `suite` command line, None for everything else.

    typer checks the types of arguments with pydantic, and importing that takes longer
    than all else that a run does which finds nothing changed. So its parser alone
    reads them here, and whatever is not plainly right goes the whole way, which says
    what is wrong.
    """
    if arguments[:1] != ["suite"] or not {"-h", "--help"}.isdisjoint(arguments):
        return None
    command: Any = typer.main.get_command(app)
    command = command.commands["suite"]
    context = typer.Context(command, info_name="suite", allow_extra_args=True)
    try:
        parser = command.make_parser(context)
        given, extra, _ = parser.parse_args(args=list(arguments[1:]))
        values = {
            parameter.name: given.get(parameter.name, parameter.default)
            for parameter in command.params
            if parameter.name != "help"
        }
        if values["spec"] is None or values["engine"] not in get_args(EngineName):
            return None
        if values["conflict"] not in get_args(ConflictName):
            return None
        return _request(extra, **values)
    except Exception:
        return None


@app.command()
def resolve(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Files of a suite, or its folder for all its conflicts.",
        ),
    ],
    ours: Annotated[bool, typer.Option("--ours", help="Yours stays as it is.")] = False,
    theirs: Annotated[
        bool,
        typer.Option(
            "--theirs",
            help="The new version stands where both changed the same; a deleted "
            "file comes back.",
        ),
    ] = False,
    edited: Annotated[
        bool, typer.Option("--edited", help="You brought both together by hand.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object in place of text.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print problems only.")
    ] = False,
) -> None:
    """End the conflicts that `suite` left open.

    Exit codes: 0 done, 2 it can't be resolved so.
    """
    if ours + theirs + edited != 1:
        raise typer.BadParameter("say one of --ours, --theirs and --edited")
    from .resolving import execute

    code = execute(
        paths=paths,
        decision="ours" if ours else "theirs" if theirs else "edited",
        json_format=json,
        quiet=quiet,
    )
    raise typer.Exit(code)


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
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Print problems only.")
    ] = False,
) -> None:
    """Find every problem of a spec and of its eval design at once.

    Exit codes: 0 none or only warnings, 2 errors (--strict: warnings too).
    """
    from .linting import execute

    code = execute(
        spec=spec,
        overlay=overlay,
        public=public,
        strict=strict,
        format=format,
        quiet=quiet,
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
    format: TraceFormat = None,
    trace_map: Annotated[
        Path | None,
        typer.Option(
            "--trace-map",
            metavar="FILE",
            help="An evals.toml whose [trace_map] says how to read your own records.",
        ),
    ] = None,
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
        format=format,
        trace_map=trace_map,
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
