"""Serve a GGUF model behind the OpenAI-compatible wire, on this machine alone.

python serve.py MODEL.gguf [THREADS]

Prints the base URL on the first line, and serves until its standard input ends.
"""

import sys
from pathlib import Path

import xllamacpp  # type: ignore[import-not-found]


def main() -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = sys.argv[1]
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = 32_768
    parameters.n_parallel = 2
    parameters.use_jinja = True
    parameters.model_alias = [Path(sys.argv[1]).name]
    if len(sys.argv) > 2:
        parameters.cpuparams.n_threads = int(sys.argv[2])
        parameters.cpuparams_batch.n_threads = int(sys.argv[2])
    server = xllamacpp.Server(parameters)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


main()
