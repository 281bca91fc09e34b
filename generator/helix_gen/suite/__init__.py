"""The suite model, which knows no spec version, and how a spec resolves to it."""
