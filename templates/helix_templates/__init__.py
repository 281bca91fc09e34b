"""The Jinja templates of generated suites: a package of data."""
