"""What people read of a run: the terminal's dashboard, the HTML page, JUnit."""
