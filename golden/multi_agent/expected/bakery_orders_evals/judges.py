"""Judges: one for each criterion that a judge decides, each with one failure mode.

Sharpen `pass_when` and `fail_when`, say in `notes` what a judge can't know, and add
labelled `examples` from your TRAIN split. An edited judge judges its cases again.
"""

from ._runtime.criterion import Judge

says_what_is_missing = Judge(
    "says-what-is-missing",
    "A refusal names the ingredient that is missing.",
    goal="Every refusal",
    pass_when=(
        "A refusal names the ingredient that is missing. This holds for every refusal."
    ),
    fail_when=(
        "Somewhere in the run this is not so: it is left undone where it was due, or "
        "something contradicts it. One place is enough, and it can be cited."
    ),
)

scenario_behavior = Judge(
    "scenario-behavior",
    "The run shows the behaviour that its scenario expects.",
    pass_when=(
        "The run does everything that the case's expected behaviour says, and the "
        "places that show it can be cited. Where the right behaviour is to refuse, to "
        "hold or to do nothing, a run that does so passes."
    ),
    fail_when=(
        "The run leaves out a part of the case's expected behaviour, or does something "
        "that it rules out, and the place (or what is missing where it was due) can be "
        "cited."
    ),
)
