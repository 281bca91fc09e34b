"""What people said of runs, and the splits that keep a judge from learning its test."""
