"""The entry of `helix-gen`: what happens when something goes wrong around a command."""

import os
import sys

from helix_runtime.streams import give_up_stdout, is_stdouts, make_streams_safe


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
        give_up_stdout()
        return 141
    except Exception as error:
        if isinstance(error, OSError) and is_stdouts(error):
            give_up_stdout()
            sys.stderr.write(f"helix-gen: stdout can't be written: {error.strerror}\n")
            return 2
        return _internal_error(error)


def _run() -> int:
    make_streams_safe()
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
