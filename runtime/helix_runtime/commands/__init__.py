"""The commands of the suite, one module each: `execute(args, folder) -> int`."""
