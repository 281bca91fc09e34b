"""How far a judge can be trusted: its verdicts held against people's labels."""
