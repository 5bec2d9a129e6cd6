"""Finds the loops of the running program around the line that is being executed.

It reads only names, attributes, constants and simple arithmetic, and calls no function of the
program.
"""

import ast
import linecache
import sys
import sysconfig

MAX_FRAMES = 40
MAX_SOURCE = 2_000_000  # characters of a file that is parsed
BARS = ("trange", "tqdm", "track", "progress_bar", "range", "enumerate", "list", "zip", "iter")


class Loop:
    """State of a loop: the value of its counter, and the iterations left, with the present one."""

    def __init__(self, key, name, is_for, value, left, total):
        self.key, self.is_for, self.value = key, is_for, value
        self.left, self.total = left, total
        self.is_named_epoch = "epoch" in name.lower() or name.lower() in ("ep", "e")


class Unknown(Exception):
    """Raised for an expression that this module does not evaluate."""


class Finder:
    def __init__(self):
        self.trees = {}  # file name -> list of loop nodes with (first, last) line
        self.ours = tuple(p for p in (
            __file__.rsplit("/", 1)[0], sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"),
            sysconfig.get_path("platlib")) if p)

    def loops(self):
        """Loops in the program's own files, innermost first."""
        found = []
        frame = sys._getframe(1)
        for _ in range(MAX_FRAMES):
            if frame is None:
                break
            name = frame.f_code.co_filename
            if not name.startswith(self.ours) and not name.startswith("<frozen"):
                found += self.loops_in(frame)
            frame = frame.f_back
        return found

    def loops_in(self, frame):
        code = frame.f_code
        # Before 3.13 locals() gives the program the very dictionary that is filled here.
        if sys.version_info < (3, 13) and not {"locals", "vars"}.isdisjoint(code.co_names):
            return []
        nodes = self.nodes_of(code.co_filename, frame.f_globals)
        line, first = frame.f_lineno, code.co_firstlineno
        nodes = [n for n in nodes if first <= n.lineno <= line <= n.end_lineno]
        if not nodes:
            return []
        variables = Variables(frame)
        try:
            found = []
            for node in reversed(nodes):
                found += read(node, variables, code.co_filename)
            return found
        finally:
            variables.close()

    def nodes_of(self, name, module_globals):
        if name not in self.trees:
            text = "".join(linecache.getlines(name, module_globals))
            nodes = []
            if 0 < len(text) <= MAX_SOURCE:
                try:
                    nodes = [n for n in ast.walk(ast.parse(text))
                             if isinstance(n, (ast.For, ast.While))]
                except (SyntaxError, ValueError, RecursionError):
                    pass
            self.trees[name] = sorted(nodes, key=lambda n: n.lineno)
        return self.trees[name]


class Variables:
    """The variables of a frame, read without keeping them alive."""

    def __init__(self, frame):
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


def read(node, variables, file):
    """The loops of a For or While node; a While node with several conditions gives several."""
    try:
        if isinstance(node, ast.For):
            return read_for(node, variables, file)
        return read_while(node, variables, file)
    except (Unknown, ArithmeticError, TypeError, ValueError):
        return []


def read_for(node, variables, file):
    target, call = counter_of(node)
    if target is None:
        return breaks_of(node, variables, file)
    bounds = [integer(a, variables) for a in call.args]
    numbers = range(*bounds)
    value = integer(target, variables)
    if value not in numbers or numbers.step <= 0:
        return []
    left = len(range(value, numbers.stop, numbers.step))
    # The start 1 means that the program counts from 1. Any other start is where it continues.
    counts_from_one = len(bounds) > 1 and isinstance(call.args[0], ast.Constant) and bounds[0] == 1
    total = numbers.stop - 1 if counts_from_one else numbers.stop
    return [Loop((file, node.lineno, 0), target.id, True, value, left, total)]


def counter_of(node):
    """(Name, call of range) of `for x in range(...)`, also within tqdm(...), zip(...); or Nones."""
    targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
    call = node.iter
    index = 0
    while isinstance(call, ast.Call) and name_of(call.func) not in ("range", "trange"):
        if name_of(call.func) not in BARS or not call.args or name_of(call.func) == "enumerate":
            return None, None
        if name_of(call.func) == "zip":
            index = next((i for i, a in enumerate(call.args) if isinstance(a, ast.Call)
                          and name_of(a.func) == "range"), 0)
        call = call.args[index if name_of(call.func) == "zip" else 0]
    if not isinstance(call, ast.Call) or index >= len(targets):
        return None, None
    target = targets[index]
    return (target, call) if isinstance(target, ast.Name) and call.args else (None, None)


def read_while(node, variables, file):
    found = breaks_of(node, variables, file)
    for test in conjuncts(node.test):
        loop = compare(test, variables, file, node.lineno, ends=False)
        found += [loop] if loop else []
    return found


def breaks_of(node, variables, file):
    """Bounds from `if n >= total: break`, in a loop of any kind."""
    found = []
    for inner in ast.walk(node):
        if isinstance(inner, ast.If) and isinstance(inner.body[-1], (ast.Break, ast.Return)):
            try:
                loop = compare(inner.test, variables, file, inner.lineno, ends=True)
            except (Unknown, ArithmeticError, TypeError, ValueError):
                continue
            found += [loop] if loop else []
    return found


def conjuncts(test):
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [t for value in test.values for t in conjuncts(value)]
    return [test]


def compare(test, variables, file, line, ends):
    """The loop that goes on while `n < total`, or that ends when `n >= total`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, op, right = test.left, test.ops[0], test.comparators[0]
    if not isinstance(left, (ast.Name, ast.Attribute)):
        return None
    kinds = (ast.GtE, ast.Eq, ast.Gt) if ends else (ast.Lt, ast.NotEq, ast.LtE)
    if not isinstance(op, kinds):
        return None
    value, total = integer(left, variables), integer(right, variables)
    if isinstance(op, (ast.Gt, ast.LtE)):
        total += 1
    if total <= max(value, 1):
        return None
    name = left.id if isinstance(left, ast.Name) else left.attr
    return Loop((file, line, name), name, False, value, total - value, total)


def name_of(function):
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def integer(node, variables):
    value = evaluate(node, variables)
    if isinstance(value, float) and value == int(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unknown
    return value


def evaluate(node, variables):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return variables.get(node.id)
    if isinstance(node, ast.Attribute):
        return attribute(evaluate(node.value, variables), node.attr)
    if isinstance(node, ast.Subscript):
        return item(evaluate(node.value, variables), evaluate(node.slice, variables))
    if isinstance(node, ast.BinOp):
        left, right = integer(node.left, variables), integer(node.right, variables)
        for kind, operate in ((ast.Add, int.__add__), (ast.Sub, int.__sub__),
                              (ast.Mult, int.__mul__), (ast.FloorDiv, int.__floordiv__)):
            if isinstance(node.op, kind):
                return operate(left, right)
    if isinstance(node, ast.Call) and name_of(node.func) in ("int", "len") and len(node.args) == 1:
        value = evaluate(node.args[0], variables)
        return len(value) if name_of(node.func) == "len" else value
    raise Unknown


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
