"""A unit that gets a new name is called by it wherever the module's name is meant."""

import ast
import builtins
import sys
from textwrap import dedent

import pytest
from helix_gen.reconcile.merge.scopes import with_new_names
from hypothesis import given
from hypothesis import strategies as st

MOVED = {"old": "new"}

FOLLOWED = {
    "a call": ("x = old(1)", "x = new(1)"),
    "in a function": ("def f():\n    return old()", "def f():\n    return new()"),
    "a decorator and a default": (
        "@old\ndef f(a=old, *, b: old = old) -> old: ...",
        "@new\ndef f(a=new, *, b: new = new) -> new: ...",
    ),
    "an argument": ("def f(old): return old", "def f(old): return old"),
    "a lambda's argument": ("f = lambda old: old", "f = lambda old: old"),
    "a local variable": (
        "def f():\n    old = 1\n    return old",
        "def f():\n    old = 1\n    return old",
    ),
    "a local variable of the function around": (
        "def f():\n    old = 1\n    def g():\n        return old\n    return g",
        "def f():\n    old = 1\n    def g():\n        return old\n    return g",
    ),
    "nonlocal": (
        "def f():\n    old = 1\n    def g():\n        nonlocal old\n        old = 2",
        "def f():\n    old = 1\n    def g():\n        nonlocal old\n        old = 2",
    ),
    "global": (
        "def f():\n    global older, old\n    old = 2",
        "def f():\n    global older, new\n    new = 2",
    ),
    "global below a local one": (
        "def f():\n    old = 1\n    def g():\n        global old\n        return old",
        "def f():\n    old = 1\n    def g():\n        global new\n        return new",
    ),
    "an attribute": ("x = a.old", "x = a.old"),
    "a keyword": ("x = f(old=old)", "x = f(old=new)"),
    "a member of a class": (
        "class A:\n    old = 1\n    x = old\ny = A.old",
        "class A:\n    old = 1\n    x = old\ny = A.old",
    ),
    "a member made of the module's": (
        "class A:\n    old = staticmethod(old)",
        "class A:\n    old = staticmethod(new)",
    ),
    "a method does not see its class": (
        "class A:\n    old = 1\n    def f(self): return old",
        "class A:\n    old = 1\n    def f(self): return new",
    ),
    "a method of that name": (
        "class A:\n    def old(self): return old()",
        "class A:\n    def old(self): return new()",
    ),
    "a base and an attribute": (
        "class A(old, metaclass=old): pass",
        "class A(new, metaclass=new): pass",
    ),
    "a comprehension's own": (
        "x = [old for old in y if old]",
        "x = [old for old in y if old]",
    ),
    "what a comprehension goes over": (
        "x = {old: old for old in old}",
        "x = {old: old for old in new}",
    ),
    "a walrus": (
        "def f():\n    x = [(old := y) for y in z]\n    return old",
        "def f():\n    x = [(old := y) for y in z]\n    return old",
    ),
    "an exception": (
        "def f():\n    try: pass\n    except E as old: g(old)",
        "def f():\n    try: pass\n    except E as old: g(old)",
    ),
    "a pattern": (
        "def f(x):\n    match x:\n        case [old, *_]: return old",
        "def f(x):\n    match x:\n        case [old, *_]: return old",
    ),
    "an import in a function": (
        "def f():\n    from m import old\n    return old",
        "def f():\n    from m import old\n    return old",
    ),
    "a loop in a class": (
        "class A:\n    for old in old: pass",
        "class A:\n    for old in new: pass",
    ),
    "__all__": ("__all__ = ['old', \"older\"]", "__all__ = ['new', \"older\"]"),
    "more of __all__": ("__all__ += ['old']", "__all__ += ['new']"),
    "a text": ("x = 'old'", "x = 'old'"),
    "letters of more bytes": ("x = 'é', old", "x = 'é', new"),
}


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_name_is_followed_where_it_means_the_module_s(name: str) -> None:
    text, expected = FOLLOWED[name]
    assert with_new_names(text, ast.parse(text), MOVED) == expected


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    new = 1\n    return old()",
        "def f(new): return old(new)",
        "def f(new):\n    def g(): return old()",
        "class A:\n    new = 1\n    x = old",
        "x = [old for new in y]",
        "x = ｏｌｄ",
    ],
)
def test_a_new_name_that_would_mean_something_else_is_not_taken(text: str) -> None:
    assert with_new_names(text, ast.parse(text), MOVED) is None


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters: Python 3.12")
def test_a_parameter_of_a_type_is_a_name_of_its_own() -> None:
    for text in (
        "def f[T: old](x: T): return old",
        "def f[old](x: old): return x",
        "class A[*old]: pass",
        "type X[old] = list[old]",
    ):
        assert with_new_names(text, ast.parse(text), MOVED) is None
    text = "def f[T](x: T): return old"
    assert with_new_names(text, ast.parse(text), MOVED) == text.replace("old", "new")


ATOMS = st.sampled_from(["old", "old()", "x.old", "[old for old in old()]", "1"])
LINES = st.recursive(
    st.one_of(
        st.sampled_from(["old = old()", "old = 3", "pass", "import old", "global old"]),
        ATOMS,
        ATOMS.map(lambda a: f"y = {a}"),
    ).map(lambda line: [line]),
    lambda inner: st.one_of(
        st.tuples(
            st.sampled_from(
                ["class A:", "def f():", "def f(old=old):", "def old():", "if old:"]
            ),
            st.lists(inner, min_size=1, max_size=3),
        ).map(lambda p: [p[0], *("    " + line for part in p[1] for line in part)]),
    ),
    max_leaves=12,
)


@given(st.lists(LINES, min_size=1, max_size=4))
def test_what_moves_is_what_the_compiler_calls_global(parts: list[list[str]]) -> None:
    text = "\n".join(line for part in parts for line in part) + "\n"
    try:
        before = compile(text, "m", "exec")
    except SyntaxError:
        return  # `global` below a use of the name
    after = with_new_names(text, ast.parse(text), MOVED)
    if after is None:
        return
    assert words(compile(after, "m", "exec"), rename=False) == words(before)


def words(code: object, *, rename: bool = True) -> list[tuple[str, str]]:
    """Return the names that compiled code takes from a function, or from a module."""
    import dis
    import types

    assert isinstance(code, types.CodeType)
    found: list[tuple[str, str]] = []
    for each in dis.get_instructions(code):
        if "GLOBAL" in each.opname:
            name = str(each.argval)
            found.append(("module", "new" if rename and name == "old" else name))
        elif "FAST" in each.opname or "DEREF" in each.opname:
            found.append(("function", str(each.argval)))
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            found += words(const, rename=rename)
    return found


def test_a_name_in_an_f_string_is_followed_or_refused() -> None:
    text = dedent('''
        def f():
            return f"""
            é {old} { old !r}
            """
        ''')
    after = with_new_names(text, ast.parse(text), MOVED)
    assert after in (None, text.replace("old", "new"))
    assert "old" not in dir(builtins)
