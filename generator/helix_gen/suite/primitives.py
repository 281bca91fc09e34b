"""The catalog of the runtime's check primitives, read from their own signatures.

A primitive is a public function of a module of `helix_runtime.checks` that returns a
Verdict. The overlay names it `module.function` and gives its keyword arguments; what
is said here about types, defaults and documentation comes from the function itself,
so the catalog can't fall behind the code.
"""

import importlib
import inspect
import math
import pkgutil
import re
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, NamedTuple, Union

from helix_runtime import checks
from helix_runtime.checks.arguments import fault
from helix_runtime.verdict import Verdict

from ..problems import quoted
from .model import Constant, PrimitiveCall

Takes = Literal["data", "verdict", "verdicts"]

# The facts of a spec that stand in for an argument which the overlay leaves out.
IMPLICIT: Final[Mapping[str, str]] = {
    "outbound": "OUTBOUND_ACTIONS",
    "operations": "ACTION_OPERATIONS",
    "declared": "DECLARED_TOOLS",
    "workflow": "WORKFLOW",
    "nodes": "WORKFLOW_NODES",
    "holders": "ACTION_HOLDERS",
    "observers": "OBSERVERS",
    "dispatch": "DISPATCH",
}
_IMPLICIT_IN: Final = ("expect", "facts", "tools", "workflow")


class Fault(NamedTuple):
    """What is wrong with an argument; `path` leads to it from the call's mapping."""

    path: tuple[str | int, ...]
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """An argument of a primitive.

    `takes` says whether it is plain data, the verdict of another primitive, or a list
    of them. `constant` names the fact of the spec that stands in where the argument
    is left out; such an argument is not `required`. `default` is None where the
    function has none (`has_default`).
    """

    name: str
    type: str
    annotation: Any
    takes: Takes
    required: bool
    has_default: bool
    default: Any
    constant: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Primitive:
    """A check primitive: `name` is `module.function`, `summary` its first line."""

    name: str
    function: Callable[..., Verdict]
    parameters: tuple[Parameter, ...]
    summary: str
    doc: str

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter of that name, or None."""
        return next((p for p in self.parameters if p.name == name), None)


@cache
def catalog() -> Mapping[str, Primitive]:
    """Return every primitive by its name, sorted."""
    found = {}
    for info in pkgutil.iter_modules(checks.__path__):
        module = importlib.import_module(f"{checks.__name__}.{info.name}")
        for name, function in vars(module).items():
            if (
                name.startswith("_")
                or not inspect.isfunction(function)
                or function.__module__ != module.__name__
            ):
                continue
            hints = typing.get_type_hints(function)
            if _is_primitive(function, hints):
                primitive = _primitive(f"{info.name}.{name}", function, hints)
                found[primitive.name] = primitive
    return dict(sorted(found.items()))


def _is_primitive(function: Any, hints: Mapping[str, Any]) -> bool:
    """Whether a function decides: of (case, trace), or of verdicts alone."""
    if hints.get("return") is not Verdict:
        return False
    names = list(inspect.signature(function).parameters)
    if names[:2] == ["case", "trace"]:
        return True
    return bool(names) and all(hints.get(name) is Verdict for name in names)


def _primitive(name: str, function: Any, hints: Mapping[str, Any]) -> Primitive:
    parameters = []
    module = name.partition(".")[0]
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in ("case", "trace"):
            continue
        annotation = hints.get(parameter.name, Any)
        takes: Takes = "data"
        if annotation is Verdict:
            variadic = parameter.kind is inspect.Parameter.VAR_POSITIONAL
            takes = "verdicts" if variadic else "verdict"
        has_default = parameter.default is not inspect.Parameter.empty
        constant = None
        if module in _IMPLICIT_IN and takes == "data":
            constant = IMPLICIT.get(parameter.name)
        parameters.append(
            Parameter(
                name=parameter.name,
                type=_type_name(annotation) if takes == "data" else takes,
                annotation=annotation,
                takes=takes,
                required=not has_default and constant is None,
                has_default=has_default,
                default=parameter.default if has_default else None,
                constant=constant,
            )
        )
    doc = inspect.getdoc(function) or ""
    return Primitive(
        name=name,
        function=function,
        parameters=tuple(parameters),
        summary=doc.partition("\n")[0],
        doc=doc,
    )


def _type_name(annotation: Any) -> str:
    if isinstance(annotation, type) and not typing.get_args(annotation):
        return annotation.__name__
    return re.sub(r"\b(typing|collections\.abc)\.", "", str(annotation))


# -- what an overlay says --------------------------------------------------------------


def argument_faults(call: Any) -> list[Fault]:
    """Return every fault of a `check` of the overlay; none means that it can be bound.

    `call` is a mapping of one primitive to its arguments, nested where a primitive
    takes the verdict of another. Checks names, presence, types and patterns.
    """
    return list(_call_faults(call, ()))


def _call_faults(call: Any, path: tuple[str | int, ...]) -> Iterator[Fault]:
    if isinstance(call, str) and call in catalog():
        yield Fault(path, "a check is a mapping", f"write `{call}: {{}}`")
        return
    if not isinstance(call, Mapping) or len(call) != 1:
        yield Fault(
            path,
            "a check is a mapping of one primitive to its arguments",
            "such as `output.contains: {texts: [refund]}`; "
            "combine several with `combine.all_of` or `combine.any_of`",
        )
        return
    ((name, arguments),) = call.items()
    primitive = catalog().get(name) if isinstance(name, str) else None
    if primitive is None:
        yield Fault(
            (*path, name), f"there is no primitive {quoted(str(name))}", _near(name)
        )
        return
    here = (*path, name)
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, Mapping):
        yield Fault(
            here,
            f"the arguments of {name} are a mapping of names to values",
            _signature(primitive),
        )
        return
    faults = list(_faults_of_arguments(primitive, arguments, here))
    for each in faults:
        yield each if each.hint else each._replace(hint=_signature(primitive))
    plain = all(parameter.takes == "data" for parameter in primitive.parameters)
    if not faults and plain:
        # What no type says (a pattern, a range), the primitive itself does.
        wrong = fault(primitive.function, {**_nothing(primitive), **arguments})
        if wrong is not None:
            yield Fault(here, wrong.rstrip("."), _signature(primitive))


def _nothing(primitive: Primitive) -> dict[str, Any]:
    """Return what stands in for the facts of a spec that says nothing of them."""
    return {
        parameter.name: {} if _is_a(parameter.annotation, (Mapping,)) else []
        for parameter in primitive.parameters
        if parameter.constant is not None and not parameter.has_default
    }


def _faults_of_arguments(
    primitive: Primitive, arguments: Mapping[Any, Any], here: tuple[str | int, ...]
) -> Iterator[Fault]:
    name = primitive.name
    meant: set[str] = set()
    for argument, value in arguments.items():
        parameter = primitive.parameter(argument)
        if parameter is None:
            close = _meant(primitive, str(argument), arguments)
            meant.add(close)
            near = f"did you mean `{close}`? " if close else ""
            yield Fault(
                (*here, argument),
                f"{name} takes no argument {quoted(str(argument))}",
                near + _signature(primitive),
            )
        else:
            yield from _value_faults(parameter, value, (*here, argument))
    for parameter in primitive.parameters:
        if parameter.required and parameter.name not in {*arguments, *meant}:
            yield Fault(here, f"{name} needs `{parameter.name}`", _signature(primitive))


def _meant(primitive: Primitive, argument: str, given: Mapping[Any, Any]) -> str:
    """Return the argument that a misspelt one was meant to be, or nothing."""
    import difflib

    free = [p.name for p in primitive.parameters if p.name not in given]
    return (*difflib.get_close_matches(argument, free, n=1, cutoff=0.7), "")[0]


def _value_faults(
    parameter: Parameter, value: Any, path: tuple[str | int, ...]
) -> Iterator[Fault]:
    if parameter.takes == "verdict":
        yield from _call_faults(value, path)
        return
    if parameter.takes == "verdicts":
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            yield Fault(
                path,
                f"`{parameter.name}` is a list of checks",
                "each a mapping of one primitive to its arguments",
            )
            return
        for index, item in enumerate(value):
            yield from _call_faults(item, (*path, index))
        return
    yield from _type_faults(value, parameter.annotation, path)


def _type_faults(
    value: Any, annotation: Any, path: tuple[str | int, ...]
) -> Iterator[Fault]:
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin in (Union, UnionType):
        if all(any(_type_faults(value, each, path)) for each in arguments):
            yield _wrong(value, annotation, path)
    elif origin is Literal:
        if value not in arguments or isinstance(value, bool) != any(
            isinstance(a, bool) and a == value for a in arguments
        ):
            yield _wrong(value, annotation, path)
    elif _is_a(annotation, (Sequence, AbstractSet)) and annotation is not str:
        if isinstance(value, str) or not isinstance(value, (list, tuple)):
            yield _wrong(value, annotation, path)
        else:
            for index, item in enumerate(value):
                yield from _type_faults(item, (*arguments, Any)[0], (*path, index))
    elif _is_a(annotation, (Mapping,)):
        if not isinstance(value, Mapping):
            yield _wrong(value, annotation, path)
        else:
            for key, item in value.items():
                yield from _type_faults(item, (*arguments, Any, Any)[1], (*path, key))
    elif annotation is float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            yield _wrong(value, annotation, path)
        elif isinstance(value, float) and not math.isfinite(value):
            yield _wrong(value, annotation, path)
    elif annotation is int:
        if isinstance(value, bool) or not isinstance(value, int):
            yield _wrong(value, annotation, path)
    elif annotation in (str, bool, NoneType) and not isinstance(value, annotation):
        yield _wrong(value, annotation, path)


def _is_a(annotation: Any, kinds: tuple[type, ...]) -> bool:
    plain = typing.get_origin(annotation) or annotation
    return isinstance(plain, type) and issubclass(plain, kinds)


def _wrong(value: Any, annotation: Any, path: tuple[str | int, ...]) -> Fault:
    hint = ""
    wants_list = not isinstance(value, (list, tuple)) and any(
        _is_a(each, (Sequence,)) and each is not str
        for each in typing.get_args(annotation) or (annotation,)
    )
    if wants_list or _is_a(annotation, (Sequence,)) and annotation is not str:
        hint = "write a list, also for one value: `[value]`"
    return Fault(path, f"expected {_words(annotation)}, not {_kind(value)}", hint)


def _words(annotation: Any, many: bool = False) -> str:
    """Return a type in words, as a message says it."""
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin in (Union, UnionType):
        return " or ".join(_words(each) for each in arguments)
    if origin is Literal:
        return "one of " + ", ".join(str(each) for each in arguments)
    if annotation is str:
        return "texts" if many else "a text"
    if annotation is bool:
        return "true or false"
    if annotation is int:
        return "whole numbers" if many else "a whole number"
    if annotation is float:
        return "numbers" if many else "a number"
    if annotation is NoneType:
        return "null"
    if _is_a(annotation, (Sequence, AbstractSet)):
        inner = (*arguments, Any)[0]
        return "a list" if inner is Any else f"a list of {_words(inner, many=True)}"
    if _is_a(annotation, (Mapping,)):
        return "mappings" if many else "a mapping"
    return "values" if many else "a value"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "a text"
    if isinstance(value, (int, float)):
        return "a number"
    return "a mapping" if isinstance(value, Mapping) else "a list"


def _signature(primitive: Primitive) -> str:
    if not primitive.parameters:
        return f"write `{primitive.name}: {{}}`"
    parts = [
        f"{p.name} ({_takes(p)}{'' if p.required else ', optional'})"
        for p in primitive.parameters
    ]
    return f"{primitive.name} takes " + ", ".join(parts)


def _takes(parameter: Parameter) -> str:
    """Return what an argument takes, as the overlay's reader would say it."""
    if parameter.takes == "verdict":
        return "a check"
    if parameter.takes == "verdicts":
        return "a list of checks"
    return _words(parameter.annotation).removesuffix(" or null")


_DENIED: Final = re.compile(r"^(?:does_not|not|no|never)_|_(?:not|none)$")


def _near(name: Any) -> str:
    import difflib

    names = list(catalog())
    family, _, function = str(name).rpartition(".")
    plain = _DENIED.sub("", function)
    if plain != function:
        # What is near in its letters would say the opposite.
        for form in ("{}_none", "not_{}", "none_{}", "no_{}", "never_{}"):
            match = f"{family}.{form.format(plain)}"
            if match in names:
                return f"did you mean `{match}`?"
        if f"{family}.{plain}" in names:
            call = f"{{combine.negate: {{verdict: {{{family}.{plain}: …}}}}}}"
            return f"for the opposite of `{family}.{plain}` write `{call}`"
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.8)
    same_function = [n for n in names if n.partition(".")[2] == function]
    for match in near or same_function:
        return f"did you mean `{match}`?"
    siblings = [n for n in names if n.partition(".")[0] == family]
    if siblings:
        return f"of `{family}` there are: " + ", ".join(siblings)
    return "the primitives are: " + ", ".join(names)


def bind(call: Mapping[str, Any], *, facts: Collection[str]) -> PrimitiveCall:
    """Return the primitive call that a faultless `check` of the overlay says.

    Arguments that a fact of the spec stands in for become Constants; `facts` are the
    names of those that the spec has. One that it lacks is still named where the
    primitive can't do without.
    """
    ((name, given),) = call.items()
    given = given or {}
    arguments: dict[str, Any] = {}
    for parameter in catalog()[name].parameters:
        if parameter.name in given:
            value = given[parameter.name]
            if parameter.takes == "verdict":
                value = bind(value, facts=facts)
            elif parameter.takes == "verdicts":
                value = tuple(bind(each, facts=facts) for each in value)
            arguments[parameter.name] = value
        elif parameter.constant is not None:
            if parameter.constant in facts or not parameter.has_default:
                arguments[parameter.name] = Constant(parameter.constant)
    return PrimitiveCall(primitive=name, arguments=arguments)


def constants_of(call: PrimitiveCall) -> frozenset[str]:
    """Return the names of the constants that a call refers to, nested ones too."""
    names: set[str] = set()
    for value in call.arguments.values():
        if isinstance(value, Constant):
            names.add(value.name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, PrimitiveCall):
                names |= constants_of(each)
    return frozenset(names)


def approval_names(call: PrimitiveCall) -> Iterator[str]:
    """Yield the names of what records an approval, in nested calls too."""
    for argument, value in call.arguments.items():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, PrimitiveCall):
                yield from approval_names(each)
            elif call.primitive == "tools.approved" and argument == "approvals":
                yield each


_TOOL_ARGUMENTS: Final = ("name", "names", "first", "then", "actions", "approvals")


def tool_names(call: PrimitiveCall) -> Iterator[str]:
    """Yield the names of tools that a call looks for, nested ones too."""
    for argument, value in call.arguments.items():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, PrimitiveCall):
                yield from tool_names(each)
            elif (
                call.primitive.startswith("tools.")
                and argument in _TOOL_ARGUMENTS
                and isinstance(each, str)
            ):
                yield each


_NODE_ARGUMENTS: Final = ("node", "path", "ends", "avoided")


def node_names(call: PrimitiveCall) -> Iterator[tuple[str, Any]]:
    """Yield the names of nodes that a call looks for, nested ones too.

    With each stand the nodes that there are: a list, or the fact that says them.
    """
    nodes = call.arguments.get("nodes")
    for argument, value in call.arguments.items():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, PrimitiveCall):
                yield from node_names(each)
            elif (
                call.primitive.startswith("workflow.")
                and argument in _NODE_ARGUMENTS
                and isinstance(each, str)
            ):
                yield each, nodes
