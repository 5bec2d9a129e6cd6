"""Reads expressions of the running program: names, attributes, constants and simple arithmetic. Of
the program's functions only __len__() is called.

It also tells what a value was computed from: follows_data(), divisor_of_updates().
"""

import ast
import itertools
import math
import sys

MAX_DEPTH = 4  # assignments that are followed from the bound of a loop
MAX_POWER = 64
MAX_LOOKS = 2000  # expressions that are looked at for one frame
ARITHMETIC = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b, ast.Div: lambda a, b: a / b, ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: a ** b if abs(a) <= 1024 and 0 <= b <= MAX_POWER else unknown(),
}
COMPARISONS = {
    ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b, ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b,
}
OF_ONE = {"int": int, "float": float, "round": round, "abs": abs, "ceil": math.ceil,
          "floor": math.floor, "bool": bool}
OF_SEVERAL = {"min": min, "max": max}
PLAIN = (int, float, str, type(None))


class Unknown(Exception):
    """Raised for an expression that this module does not evaluate."""


FAILURES = (Unknown, ArithmeticError, RecursionError, TypeError, ValueError)


def unknown():
    raise Unknown


class Variables:
    """The variables of a frame, read without keeping them alive."""

    def __init__(self, frame, sources):
        self.file = frame.f_code.co_filename
        self.sources = sources
        self.looks = MAX_LOOKS
        self.local = frame.f_locals
        self.globals = frame.f_globals
        self.is_copy = self.local is not self.globals and isinstance(self.local, dict) \
            and bool(frame.f_code.co_flags & 1) and sys.version_info < (3, 13)

    def get(self, name):
        if name in self.local:
            return self.local[name]
        if name in self.globals:
            return self.globals[name]
        raise Unknown(name)

    def close(self):
        """Before 3.13 f_locals is a copy that lives as long as the frame: it would keep tensors."""
        if self.is_copy:
            self.local.clear()


def name_of(node):
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


# --- values

def integer(node, variables):
    value = evaluate(node, variables)
    if isinstance(value, float) and value == int(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unknown
    return value


def number(node, variables):
    value = evaluate(node, variables)
    return value if type(value) in (int, float) else unknown()


def evaluate(node, variables):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return variables.get(node.id)
    if isinstance(node, ast.NamedExpr):
        return evaluate(node.target, variables)
    if isinstance(node, ast.Attribute):
        return attribute(evaluate(node.value, variables), node.attr)
    if isinstance(node, ast.Subscript):
        return item(evaluate(node.value, variables), evaluate(node.slice, variables))
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        return ARITHMETIC[type(node.op)](number(node.left, variables),
                                         number(node.right, variables))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -number(node.operand, variables)
    if isinstance(node, ast.Call) and not node.keywords:
        return call(name_of(node.func), node.args, variables)
    if isinstance(node, ast.IfExp):
        return evaluate(node.body if truth(node.test, variables) else node.orelse, variables)
    if isinstance(node, ast.BoolOp):
        for part in node.values[:-1]:
            if truth(part, variables) == isinstance(node.op, ast.Or):
                return evaluate(part, variables)
        return evaluate(node.values[-1], variables)
    raise Unknown


def call(name, arguments, variables):
    """The value of a call of a known function, whatever the program has under its name."""
    if name == "len" and len(arguments) == 1:
        return len(evaluate(arguments[0], variables))
    if name in OF_ONE and len(arguments) == 1:
        return OF_ONE[name](number(arguments[0], variables))
    if name in OF_SEVERAL and len(arguments) > 1:
        return OF_SEVERAL[name](number(a, variables) for a in arguments)
    raise Unknown


def truth(node, variables):
    """Whether a condition holds; only of plain values, as others may have code of their own."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not truth(node.operand, variables)
    if isinstance(node, ast.BoolOp):
        holds = (truth(part, variables) for part in node.values)
        return all(holds) if isinstance(node.op, ast.And) else any(holds)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = (evaluate(n, variables) for n in (node.left, node.comparators[0]))
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return (left is right) == isinstance(node.ops[0], ast.Is)
        plain = isinstance(left, PLAIN) and isinstance(right, PLAIN)
        return COMPARISONS.get(type(node.ops[0]), lambda *_: unknown())(left, right) if plain \
            else unknown()
    value = evaluate(node, variables)
    return bool(value) if isinstance(value, PLAIN) else unknown()


def attribute(value, name):
    """A stored attribute; properties and other code of the program are not run."""
    stored = getattr(value, "__dict__", {})
    if name in stored:
        return stored[name]
    if name in vars(type(value)) and isinstance(vars(type(value))[name], (int, float)):
        return vars(type(value))[name]
    if type(value).__module__.startswith("omegaconf"):
        return getattr(value, name)
    raise Unknown


def item(value, key):
    if type(value) in (dict, list, tuple) or type(value).__module__.startswith("omegaconf"):
        try:
            return value[key]
        except (LookupError, TypeError):
            raise Unknown from None
    raise Unknown


# --- where a value comes from

def assigned_in(tree):
    """The expressions that give each name or attribute its value, anywhere in a file; None: one
    that adds to it. The default of an option counts as its value."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                add_targets(found, target, node.value)
        elif isinstance(node, ast.AugAssign):
            found.setdefault(name_of(node.target), []).extend((node.value, None))
        elif isinstance(node, ast.Call):
            add_option(found, node)
    found.pop("", None)
    return found


def add_targets(found, target, value):
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, its in itertools.zip_longest(target.elts, value.elts):
            if one is not None and its is not None:
                add_targets(found, one, its)
    else:
        found.setdefault(name_of(target), []).append(value)


def add_option(found, node):
    """add_argument("--max-steps", default=100)"""
    words = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    defaults = [k.value for k in node.keywords if k.arg == "default"]
    for word in words if defaults else ():
        if word.startswith("--"):
            found.setdefault(word[2:].replace("-", "_"), []).append(defaults[0])


def is_given(name, value):
    """True if an argument of the program gives this number to this name."""
    arguments = [str(a) for a in getattr(sys, "argv", ())[1:]]
    for argument, after in itertools.zip_longest(arguments, arguments[1:]):
        key, is_joined, text = argument.partition("=")
        if key.lstrip("-").replace("-", "_").rsplit(".", 1)[-1] != name:
            continue
        try:
            if float(text if is_joined else after or "") == value:
                return True
        except ValueError:
            continue
    return False


def sources_of(node, variables):
    """The expressions that may have given this one its present value; the node itself, where
    nothing is before it; [] for what a person gave, or for what comes from another file."""
    variables.looks -= 1
    if variables.looks < 0:
        raise Unknown
    if isinstance(node, (ast.Name, ast.Attribute)):
        parts = variables.sources.get(name_of(node), [])
        if None in parts:
            return [p for p in parts if p is not None and not isinstance(p, ast.Constant)]
    elif isinstance(node, ast.BoolOp):
        parts = node.values
    elif isinstance(node, ast.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, ast.Call) and name_of(node.func) in OF_SEVERAL and len(node.args) > 1:
        parts = node.args
    else:
        return [node]
    try:
        value = number(node, variables)
    except FAILURES:
        return parts
    if name_of(node) and is_given(name_of(node), value):
        return []
    return [p for p in parts if may_be(p, value, variables)]


def may_be(node, value, variables):
    try:
        found = evaluate(node, variables)
    except FAILURES:
        return True
    return isinstance(found, PLAIN) and found == value


def follows_data(node, variables, depth=MAX_DEPTH):
    """True for a number that is computed from the length of the data, or by a batch size; where it
    may also come from elsewhere, it does not count."""
    sources = sources_of(node, variables)
    if sources != [node]:
        return depth > 0 and bool(sources) and \
            all(follows_data(s, variables, depth - 1) for s in sources)
    if isinstance(node, ast.Call) and name_of(node.func) == "len":
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Div)) and \
            any(is_batch(name_of(n)) for n in ast.walk(node.right)):
        return True
    return any(follows_data(part, variables, depth) for part in ast.iter_child_nodes(node)
               if isinstance(part, ast.expr))


def divisor_of_updates(node, variables, depth=MAX_DEPTH):
    """The node by which a number of updates was divided: epochs = ceil(steps / len(loader)); None:
    there is none."""
    sources = sources_of(node, variables)
    if sources != [node]:
        found = [divisor_of_updates(s, variables, depth - 1) for s in sources if depth > 0]
        return next((n for n in found if n is not None), None)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.FloorDiv, ast.Div)) and \
            follows_data(node.right, variables) and not follows_data(node.left, variables):
        return node.right
    found = [divisor_of_updates(part, variables, depth) for part in ast.iter_child_nodes(node)
             if isinstance(part, ast.expr)]
    return next((n for n in found if n is not None), None)


def is_batch(name):
    return "batch" in name.lower() or name.lower() in ("bs", "bsz", "b")
