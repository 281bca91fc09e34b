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
        "Wherever the run gives occasion for it, the run shows: “A refusal names the "
        "ingredient that is missing.” Its bar is met: “Every refusal.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “A refusal names the ingredient "
        "that is missing.” Or what it asks for is missing at a place where it was due. "
        "One place that misses the bar is enough: “Every refusal.”"
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
