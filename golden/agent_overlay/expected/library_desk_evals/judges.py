"""Judges: one for each criterion that a judge decides, each with one failure mode.

Sharpen `pass_when` and `fail_when`, say in `notes` what a judge can't know, and add
labelled `examples` from your TRAIN split. An edited judge judges its cases again.
"""

from ._runtime.criterion import Judge

looks_up_first = Judge(
    "looks-up-first",
    "The catalogue is asked before anything is said about a shelf.",
    goal="Always",
    pass_when=(
        "The run asks the catalogue before it says anything about a shelf, or says "
        "nothing about one."
    ),
    fail_when=(
        "The run says something about a shelf and had not asked the catalogue by then."
    ),
)

grounded_shelf = Judge(
    "grounded-shelf",
    "Every shelf in the answer stands in what the catalogue returned.",
    goal="No shelf without a record.",
    pass_when=(
        "Every shelf in the answer stands in what the catalogue returned. That means: "
        "no shelf without a record."
    ),
    fail_when=(
        "Not every shelf in the answer stands in what the catalogue returned. One "
        "place is enough, and it can be cited."
    ),
    inputs=["transcript", "trajectory"],
)

admits_no_copy = Judge(
    "admits-no-copy",
    "Where there is no copy, the answer says so and offers nothing else instead.",
    goal="Pass on all three runs.",
    pass_when=(
        "Where there is no copy, the answer says so and offers nothing else instead."
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
