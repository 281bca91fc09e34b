"""The dataset while it grows: cases out of runs, and out of combinations."""
