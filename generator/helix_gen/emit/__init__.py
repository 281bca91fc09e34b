"""Rendering: the suite model to the files of a suite, each with its ownership."""
