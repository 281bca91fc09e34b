"""Judges: one for each criterion that a judge decides, each with one failure mode.

Sharpen `pass_when` and `fail_when`, say in `notes` what a judge can't know, and add
labelled `examples` from your TRAIN split. An edited judge judges its cases again.
"""

from ._runtime.criterion import Judge

warnings_first = Judge(
    "warnings-first",
    "Warnings stand before everything else in the notes.",
    goal="Always",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “Warnings stand before "
        "everything else in the notes.” Its bar is met: “Always.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “Warnings stand before everything "
        "else in the notes.” Or what it asks for is missing at a place where it was "
        "due. One place that misses the bar is enough: “Always.”"
    ),
)

only_logged_places = Judge(
    "only-logged-places",
    "The notes name no place that the log does not name.",
    goal="None",
    pass_when=(
        "Wherever the run gives occasion for it, the run shows: “The notes name no "
        "place that the log does not name.” Its bar is met: “None.”"
    ),
    fail_when=(
        "At least one place in the run contradicts “The notes name no place that the "
        "log does not name.” Or what it asks for is missing at a place where it was "
        "due. One place that misses the bar is enough: “None.”"
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
