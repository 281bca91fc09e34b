"""Every diagnostic code, what it means and what to do; docs/diagnostics.md shows them.

A code is stable: its meaning never changes, and a code that is no longer given is not
used again. The first digit names the room (ROOMS). `python -m helix_gen.codes` prints
the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from helix_runtime.targets import FORMS

ROOMS: Final[Mapping[str, str]] = {
    "0": "The file",
    "1": "Structure",
    "2": "Meaning",
    "3": "The overlay",
    "4": "The eval design",
    "5": "Datasets and suite",
    "7": "Files and folders",
}


@dataclass(frozen=True, slots=True)
class Code:
    """A diagnostic code: what it means, and what to do about it."""

    code: str
    meaning: str
    remedy: str


_ALL: Final = (
    # -- 0: the file -----------------------------------------------------------------
    Code("HX001", "The file is not UTF-8.", "Save it as UTF-8."),
    Code(
        "HX002",
        "The file is larger than 64 MiB.",
        "Move rows into a file that `itemsRef` or the overlay names.",
    ),
    Code(
        "HX003",
        "A control character, or a second byte order mark, stands in the file.",
        "Remove it, or write it as an escape in double quotes.",
    ),
    Code(
        "HX004",
        "The file is not valid YAML.",
        "See the place; often a value that holds `: ` or starts with `@`, `*` or `%` "
        "needs quotes.",
    ),
    Code("HX005", "The file is empty.", "Write an agentspec."),
    Code(
        "HX006",
        "A key stands twice in one mapping.",
        "Keep one of the two: readers differ in which one counts.",
    ),
    Code(
        "HX007",
        "A YAML tag (`!!python/…`, `!x`).",
        "Leave it out; put a text in quotes.",
    ),
    Code("HX008", "A second YAML document.", "Split the file, or remove the `---`."),
    Code("HX009", "More than 64 levels inside each other.", "Flatten the data."),
    Code(
        "HX010",
        "An alias without an anchor before it, or aliases that expand without bound.",
        "Write the values out.",
    ),
    Code("HX011", "A key that is a list or a mapping.", "Keys are texts."),
    Code(
        "HX012",
        "A number that JSON can't hold: infinite, not a number, or thousands of digits.",
        "Put it in quotes if it is a text.",
    ),
    Code(
        "HX013",
        "A merge key (`<<`); YAML 1.2 has none.",
        "Write the keys out.",
    ),
    Code(
        "HX020",
        "The file is not an agentspec.",
        "The message says what it looks like, and where its parts would go.",
    ),
    Code(
        "HX021",
        "An agentspec of a version that is not read, or without its version.",
        "AgentSpec 0.2.0 and 0.3.0 are read.",
    ),
    # -- 1: structure ----------------------------------------------------------------
    Code("HX101", "A key that the format does not have.", "Remove it or correct it."),
    Code("HX102", "A key that the format requires is missing.", "Add it."),
    Code(
        "HX103",
        "A value of the wrong type, or none.",
        "A number or a date where a text is wanted needs quotes.",
    ),
    Code("HX104", "A value outside a closed vocabulary.", "Use one that is listed."),
    Code(
        "HX105", "A text or a list is empty.", "Fill it, or leave an optional key out."
    ),
    Code("HX106", "A number out of range.", "See the message."),
    Code(
        "HX110",
        "A card has a `status`, the stamp of internal cards: a warning, and an error "
        "with `--public`.",
        "Remove it before the card is published.",
    ),
    # -- 2: meaning ------------------------------------------------------------------
    Code(
        "HX201",
        "An id stands twice in one list; a warning for two rows of a file.",
        "Give one of them another id.",
    ),
    Code(
        "HX202",
        "A card has the body of another kind.",
        "Remove it, or change the kind.",
    ),
    Code("HX203", "A card lacks the body that its kind names.", "Add it."),
    Code(
        "HX204",
        "A reference that leads nowhere. A warning where the format does not say what "
        "it may name, or where the other end may be in another file.",
        "Correct the id, or declare what it names.",
    ),
    Code(
        "HX205",
        "A workflow node that no way leads to.",
        "Add an edge to it, or remove it.",
    ),
    Code(
        "HX206",
        "An edge closes a loop without a bound.",
        "Give the edge a `loop` with `maxIterations` or `exitWhen`.",
    ),
    Code(
        "HX207",
        "Members dispatch each other in a circle.",
        "Remove one dispatch; `observes` is for watching.",
    ),
    Code(
        "HX208",
        "A target that is not code has an `implementation`.",
        "Remove it, or make the artifact's format `code`.",
    ),
    Code(
        "HX209",
        "`decisionsRef` names no Markdown file beside the spec.",
        "Write `./name.md`.",
    ),
    Code(
        "HX210",
        "A case has a value that its dimension does not list.",
        "Use a listed value, or add it to `caseDimensions`.",
    ),
    Code(
        "HX211",
        "A case has a dimension that its dataset does not declare.",
        "Correct it, or declare it under `caseDimensions`.",
    ),
    Code(
        "HX212",
        "A workflow has both `inline` and `ref`, or neither.",
        "Keep one of them.",
    ),
    Code(
        "HX213",
        "A terminal node with edges, or an end that is not terminal.",
        "Make the two agree.",
    ),
    Code(
        "HX214",
        "An approval policy is nearly `required`, and so gates nothing.",
        "Write `required`.",
    ),
    Code(
        "HX220",
        "The evaluation is empty, or has no criteria: a draft.",
        "Add criteria and scenarios.",
    ),
    Code(
        "HX221",
        "No dataset maps to a criterion: it judges every case.",
        "Add it to `mapsTo.criteria` of a dataset if that is not meant.",
    ),
    Code(
        "HX222",
        "No dataset and no item maps to a scenario.",
        "Add it to `mapsTo.scenarios` of a dataset if that is not meant.",
    ),
    Code(
        "HX223",
        "A scenario is in a category that is not declared (0.2).",
        "Declare it under `dataset_categories`, or correct it.",
    ),
    # -- 3: the overlay --------------------------------------------------------------
    Code(
        "HX301",
        "An aggregate that can't be read.",
        '`all`, `{rate: ">= 0.95"}`, `{mean: "> 0.9"}`, `{pass^k: 3}` or '
        '`{baseline: ">= 0"}`.',
    ),
    Code(
        "HX302",
        "A row's field is mapped to something that is no field of a case.",
        "`query`, `category`, `scenario`, `id`, or a name below `input.`, "
        "`expected.` or `tuple.`.",
    ),
    Code(
        "HX303",
        "A target of no known form.",
        ", ".join(f"`{form}`" for form in FORMS.values()) + ".",
    ),
    Code("HX304", "An address that is no URL.", "Start it with https:// or http://."),
    Code(
        "HX305",
        "An id that the spec does not have.",
        "The hint has the closest one, or those that there are.",
    ),
    Code(
        "HX306",
        "A check names no primitive, or its arguments don't fit.",
        "See the reference of primitives.",
    ),
    Code(
        "HX307",
        "`renamed_from` names a criterion that is still there, or one that another "
        "criterion claims.",
        "It names an id that the spec no longer has.",
    ),
    Code(
        "HX308",
        "A method that does not go with the rest: a check under `llm-judge`, or a "
        "method for a derived criterion.",
        "Use `hybrid` for a check and a judge.",
    ),
    Code(
        "HX309",
        "A mean over a criterion that only a judge decides.",
        "Use a rate, or bind a check that measures a number.",
    ),
    Code(
        "HX310",
        "A judge decides what the spec calls a code-check, or code alone what it has "
        "judged.",
        "Bind a check where one can decide it.",
    ),
    Code("HX311", "Two fields are mapped to one of ours.", "Keep one of the two."),
    # -- 4: the eval design ----------------------------------------------------------
    Code(
        "HX401",
        "No case exercises a criterion.",
        "Add scenarios, categories or items to its datasets.",
    ),
    Code(
        "HX402",
        "A criterion asks for a score. Verdicts are binary.",
        "Say what must hold; express degrees by several criteria.",
    ),
    Code(
        "HX403",
        "A criterion seems to hold two failure modes.",
        "Split it, so that a fail says which.",
    ),
    Code(
        "HX404",
        "A goal about many runs, and no aggregate that carries it.",
        "Put the proposed lines into the overlay.",
    ),
    Code(
        "HX405",
        "A code check without an executable check stays uncertain.",
        "Bind a primitive in the overlay; or fill in its function in `checks.py`, and say "
        "`method: deterministic` in the overlay.",
    ),
    Code(
        "HX406",
        "No case of a dataset has a realistic query.",
        "Write items with an `input`, or name a file of rows.",
    ),
    Code("HX407", "Two criteria ask the same.", "Keep one of them."),
    Code(
        "HX408",
        "An expectation names a node or member that the spec does not have.",
        "Correct it: no run can meet it.",
    ),
    Code(
        "HX409",
        "Two criterion ids differ in case or punctuation only.",
        "Give one of them another id.",
    ),
    Code(
        "HX410",
        "A criterion forbids a text, and its check passes where the text is.",
        "Bind `output.contains_none`, or put `combine.negate` around the check.",
    ),
    Code(
        "HX411",
        "A criterion has a condition, and its check asks in every case.",
        "Narrow it with `applies_to`, or put `combine.when` around the check.",
    ),
    Code(
        "HX412",
        "A judged criterion is given a check that passes for its form alone: code decides "
        "first, so that no judge is asked where it passes.",
        "Make the check a criterion of its own, and leave this one to the judge.",
    ),
    Code(
        "HX413",
        "An item expects something in a way that no check reads: a name with a slip in "
        "it, or a text where a list is read.",
        "Write it as the hint says, or name it in a check.",
    ),
    Code(
        "HX414",
        "An item's input has its words under a name that no query is taken from, so that "
        "the query is all of the input, as JSON.",
        "Call the field `query`, or one of the other names that are read.",
    ),
    # -- 5: datasets and suite -------------------------------------------------------
    Code(
        "HX501",
        "A file of rows can't be read, or `itemsRef` names none (a URI, a folder, "
        "prose): a warning where only the spec names it.",
        "Put the file beside the spec and name it in the overlay, or give it with "
        "`--items DATASET=FILE`.",
    ),
    Code("HX502", "A row of a file can't be read.", "Mend the row, or take it out."),
    Code(
        "HX503",
        "Rows have a category, a scenario or a value that the spec does not have.",
        "Translate it in the overlay's `map`.",
    ),
    Code(
        "HX504",
        "Fields of rows are left out, because nothing says what they are.",
        "Map them in the overlay's `map`.",
    ),
    Code(
        "HX505",
        "A row holds a value that JSON can't hold.",
        "Write the value as a text.",
    ),
    Code(
        "HX506",
        "Two different cases have one content id.",
        "Change a word of one of them.",
    ),
    Code(
        "HX507",
        "`--items` names a dataset that the spec does not have.",
        "The hint lists its datasets.",
    ),
    Code(
        "HX508",
        "`--target` names a target that the spec does not have.",
        "The hint lists its targets.",
    ),
    Code(
        "HX509",
        "A code-written suite is asked for, and the target can't be called from "
        "Python.",
        "Use `--engine native-matrix`, or choose a target that is code.",
    ),
    Code(
        "HX510",
        "`applies_to` leaves a criterion no case: it only narrows what the spec says.",
        "Name what the spec applies the criterion to.",
    ),
    Code(
        "HX511",
        "A part of the overlay has no effect.",
        "Remove it, or add what it needs.",
    ),
    Code(
        "HX512",
        "A check needs a fact that the spec does not have.",
        "Give the argument in the overlay.",
    ),
    Code(
        "HX513",
        "No criterion of the spec judges the cases of a dataset.",
        "Name criteria under its `mapsTo.criteria`.",
    ),
    Code(
        "HX514",
        "A check looks for a tool that the spec does not declare.",
        "Mend the name, or declare the tool. A check that a tool is never called passes "
        "where the name is misspelt.",
    ),
    Code(
        "HX515",
        "A check looks for a node that the workflow does not have.",
        "Mend the name. A check that a node is never visited passes where the name is "
        "misspelt.",
    ),
    # -- 7: files and folders --------------------------------------------------------
    Code(
        "HX701",
        "An input file can't be read, or an argument names none.",
        "Check the path.",
    ),
    Code(
        "HX702",
        "The output folder is not empty and not a suite of this subject.",
        "Name a new or an empty folder with `-o`.",
    ),
    Code(
        "HX703",
        "A path in the output folder is not safe to write to.",
        "Move it away, or generate into another folder.",
    ),
    Code(
        "HX704",
        "The memory of a suite (its manifest, its rows, its journal) is missing or "
        "broken.",
        "Restore it from version control, or run again with `--rebuild`.",
    ),
    Code(
        "HX705",
        "A newer helix-gen wrote the suite.",
        "Upgrade helix-gen.",
    ),
    Code("HX706", "Another run writes to the folder.", "Wait, then run again."),
    Code("HX707", "A file changed while the suite was generated.", "Run again."),
    Code("HX708", "A file can't be written.", "See the message."),
    Code(
        "HX709",
        "Packets are asked for and no model is named that will judge them.",
        "Name it with `--model`, or as `judge.model` in the overlay.",
    ),
    Code(
        "HX710",
        "A conflict can't be resolved in this way.",
        "See the hint: mend the file, take out the markers, or choose otherwise.",
    ),
    Code(
        "HX711",
        "The package of a suite has another name than it was generated with.",
        "Give the folder its name back: a new one beside it would lack your edits.",
    ),
    Code(
        "HX712",
        "No items are read from where the last run had them, so that a suite would lose "
        "their cases: the file is gone, empty, remote, or `--items` is not given again.",
        "Put the file back or give it with `--items DATASET=FILE`; or give the cases up: "
        "remove their rows, or the file's name from the spec and the overlay.",
    ),
)

CODES: Final[Mapping[str, Code]] = {code.code: code for code in _ALL}


def diagnostics_page() -> str:
    """Return docs/diagnostics.md: every code, by room."""
    lines = [
        "# Diagnostics",
        "",
        "Every problem that `helix-gen` reports has a code, `error[HX123]` or "
        "`warning[HX123]`. Codes are stable: a meaning",
        "never changes, and a code that is retired is not used again.",
    ]
    for room, title in ROOMS.items():
        codes = [code for code in _ALL if code.code[2] == room]
        if codes:
            lines += ["", f"## {title}", "", "| code | meaning | what to do |"]
            lines.append("| --- | --- | --- |")
            lines += [
                f'| <a id="{c.code.lower()}"></a>{c.code} | {_cell(c.meaning)} '
                f"| {_cell(c.remedy)} |"
                for c in codes
            ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(diagnostics_page(), end="")
