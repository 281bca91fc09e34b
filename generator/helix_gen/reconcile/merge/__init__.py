"""Three-way merge: what was generated before, what the user made of it, what is new.

Python merges unit by unit (`python`), other texts line by line (`lines`). A merge
splices source text: what neither side touched stays byte for byte. It never decides
between two edits of one thing; it keeps the user's and reports a conflict.
"""
