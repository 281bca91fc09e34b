"""The loop around a suite: what fails as a request, when to stop, and an audit."""
