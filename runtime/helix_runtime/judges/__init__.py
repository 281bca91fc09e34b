"""A model as the judge: its prompt, its answer, its evidence, and the weather between."""
