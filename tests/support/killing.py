"""Processes that are killed (-9) at a given touch of a folder."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path


def killed_at(event: int, root: Path, work: Callable[[], None]) -> bool:
    """Do the work in a process that kills itself (-9) at its nth touch of the folder.

    Returns whether it was killed; False means that it was done before.
    """
    child = os.fork()
    if child == 0:
        left = [event]
        watched = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir")

        def hook(name: str, arguments: tuple[object, ...]) -> None:
            if name in watched and str(arguments[0]).startswith(str(root)):
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0
    return False
