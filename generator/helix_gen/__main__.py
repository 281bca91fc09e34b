"""The entry of `helix-gen`: what happens when something goes wrong around a command."""

import os
import sys


def main() -> int:
    """Run the command line and return its exit code.

    A closed pipe and Ctrl-C end it quietly (141 and 130, as the shell says); a fault
    of helix-gen itself says so, keeps its traceback in a file and gives 70.
    """
    try:
        code = _run()
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        return 130
    except BrokenPipeError:
        _give_up_stdout()
        return 141
    except Exception as error:
        if isinstance(error, OSError) and _is_stdouts(error):
            _give_up_stdout()
            sys.stderr.write(f"helix-gen: stdout can't be written: {error.strerror}\n")
            return 2
        return _internal_error(error)


def _run() -> int:
    # Python has no stream where the caller closed it (`>&-`): what is said goes nowhere.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        # A terminal that can't show a character shows its escape; it never stops us.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    # Plugins of whatever else is installed: no part of this, and slow to look for.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from .cli import app, shortcut

    request = shortcut(sys.argv[1:])
    if request is not None:
        from .generate import execute

        return execute(request)
    try:
        app()
    except SystemExit as exit:
        if isinstance(exit.code, int):
            return exit.code
        return 0 if exit.code is None else 1
    return 0


def _is_stdouts(error: OSError) -> bool:
    """Whether it was stdout that could not be written (a full disk behind `>`)."""
    try:
        sys.stdout.write("\n")  # an unbuffered stream has nothing left to flush
        sys.stdout.flush()
    except OSError as again:
        return again.errno == error.errno
    return False


def _give_up_stdout() -> None:
    """Let the interpreter end without writing into stdout once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def _internal_error(error: Exception) -> int:
    import tempfile
    import traceback

    from . import __version__

    report = "".join(traceback.format_exception(error))
    sys.stderr.write(
        f"helix-gen {__version__} has a fault of its own "
        f"({type(error).__name__}); your input is not to blame.\n"
    )
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            prefix="helix-gen-error-",
            suffix=".txt",
            delete=False,
            encoding="utf-8",
            errors="backslashreplace",
        ) as file:
            file.write(report)
        sys.stderr.write(
            f"The details are in {file.name}: please add that file to a bug report.\n"
        )
    except OSError:
        sys.stderr.write(report)
    return 70


if __name__ == "__main__":
    sys.exit(main())
