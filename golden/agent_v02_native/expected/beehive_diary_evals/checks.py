"""Code checks: one function for each criterion that code decides.

There is none yet: judges decide every criterion of this suite.
"""
