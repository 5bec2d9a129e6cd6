"""Finds the loops of the running program around the line that is being executed.

It reads only names, attributes, constants and simple arithmetic, and calls no function of the
program.
"""

import ast
import linecache
import sys
import sysconfig

MAX_FRAMES = 40
MAX_DEPTH = 3  # assignments that are followed from the bound of a loop
CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "time_ns", "now")
TURNED = {ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Lt: ast.Gt, ast.LtE: ast.GtE}
MAX_SOURCE = 2_000_000  # characters of a file that is parsed
BARS = ("trange", "tqdm", "track", "progress_bar", "range", "enumerate", "list", "zip", "iter")


class Loop:
    """State of a loop: the value of its counter, and the iterations left, with the present one."""

    def __init__(self, key, name, is_for, value, left, total):
        self.key, self.is_for, self.value = key, is_for, value
        self.left, self.total = left, total
        self.follows_data = False  # its bound was computed from the data and the batch size
        self.is_with_data = False  # ends with the data, too: zip(range(n), loader)
        self.is_named_epoch = "epoch" in name.lower() or name.lower() in ("ep", "e")


class Cap(Loop):
    """`for batch in islice(loader, n)`: no counter, at most n iterations."""

    def __init__(self, key, total):
        super().__init__(key, "", True, 0, total, total)


class Unbounded:
    """A loop that ends by a time or by a metric."""

    def __init__(self, ends):
        self.ends = ends


class Unknown(Exception):
    """Raised for an expression that this module does not evaluate."""


class Finder:
    def __init__(self):
        self.trees = {}  # file name -> list of loop nodes with (first, last) line
        self.sources = {}  # file name -> {name: expressions that are assigned to it}
        self.ours = tuple(p for p in (
            __file__.rsplit("/", 1)[0], sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"),
            sysconfig.get_path("platlib")) if p)

    def loops(self):
        """Loops in the program's own files, innermost first."""
        return [x for x in self.all() if isinstance(x, Loop)]

    def all(self):
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
                found += read(node, variables, code.co_filename,
                              self.sources.get(code.co_filename, {}))
            return found
        finally:
            variables.close()

    def nodes_of(self, name, module_globals):
        if name not in self.trees:
            text = "".join(linecache.getlines(name, module_globals))
            nodes = []
            if 0 < len(text) <= MAX_SOURCE:
                try:
                    tree = ast.parse(text)
                    nodes = [n for n in ast.walk(tree) if isinstance(n, (ast.For, ast.While))]
                    self.sources[name] = assigned_in(tree)
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


def assigned_in(tree):
    """The expressions that are assigned to each name or attribute, anywhere in a file."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                name = name_of(target)
                if name:
                    found.setdefault(name, []).append(node.value)
    return found


def follows_data(node, assigned, depth=MAX_DEPTH):
    """True for a bound that is computed from the length of the data, or by a batch size."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and name_of(part.func) == "len":
            return True
        if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.FloorDiv, ast.Div)) and \
                any(is_batch(name_of(n)) for n in ast.walk(part.right)):
            return True
        name = name_of(part) if isinstance(part, (ast.Name, ast.Attribute)) else ""
        if name and depth and any(follows_data(value, assigned, depth - 1)
                                  for value in assigned.get(name, ())):
            return True
    return False


def is_batch(name):
    return "batch" in name.lower() or name.lower() in ("bs", "bsz", "b")


def read(node, variables, file, assigned):
    """The loops of a For or While node; a While node with several conditions gives several."""
    try:
        if isinstance(node, ast.For):
            return read_for(node, variables, file, assigned)
        return read_while(node, variables, file, assigned)
    except (Unknown, ArithmeticError, TypeError, ValueError):
        return []


def read_for(node, variables, file, assigned):
    target, call = counter_of(node)
    if target is None:
        return caps_of(node, variables, file) + breaks_of(node, variables, file, assigned)
    bounds = [integer(a, variables) for a in call.args]
    numbers = range(*bounds)
    value = integer(target, variables)
    if value not in numbers or numbers.step <= 0:
        return []
    left = len(range(value, numbers.stop, numbers.step))
    # The start 1 means that the program counts from 1. Any other start is where it continues.
    counts_from_one = len(bounds) > 1 and isinstance(call.args[0], ast.Constant) and bounds[0] == 1
    total = numbers.stop - 1 if counts_from_one else numbers.stop
    loop = Loop((file, node.lineno, 0), target.id, True, value, left, total)
    loop.follows_data = any(follows_data(a, assigned) for a in call.args)
    loop.is_with_data = any(isinstance(n, ast.Call) and name_of(n.func) == "zip" and
                            any(is_finite(a, variables) for a in n.args)
                            for n in ast.walk(node.iter))
    return [loop] + breaks_of(node, variables, file, assigned)


def caps_of(node, variables, file):
    """The bound of `for ... in islice(loader, n)`, also within tqdm(...) or enumerate(...)."""
    call = node.iter
    while isinstance(call, ast.Call) and call.args:
        if name_of(call.func) == "islice":
            bounds = call.args[1:]
            end = bounds[0] if len(bounds) == 1 else bounds[1] if len(bounds) > 1 else None
            if end is None:
                return []
            cap = Cap((file, node.lineno, "islice"), integer(end, variables))
            cap.is_with_data = is_finite(call.args[0], variables)
            return [cap]
        call = call.args[0]
    return []


def is_finite(node, variables):
    """True for a loader, or another thing of the program that has a length."""
    while isinstance(node, ast.Call) and node.args and name_of(node.func) in BARS[1:]:
        node = node.args[0]
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return False
    try:
        return hasattr(type(evaluate(node, variables)), "__len__")
    except Unknown:
        return False


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


def read_while(node, variables, file, assigned):
    found = breaks_of(node, variables, file, assigned)
    for test in conjuncts(node.test):
        found += bound_of(test, variables, file, node.lineno, assigned, ends=False)
    return found


def breaks_of(node, variables, file, assigned):
    """Bounds from `if n >= total: break`, in a loop of any kind."""
    found = []
    for inner in ast.walk(node):
        if isinstance(inner, ast.If) and ends_loop(inner.body[-1]):
            for test in disjuncts(inner.test):
                found += bound_of(test, variables, file, inner.lineno, assigned, ends=True)
    return found


def ends_loop(statement):
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return name_of(statement.value.func) in ("exit", "quit", "_exit")
    return isinstance(statement, (ast.Break, ast.Return))


def bound_of(test, variables, file, line, assigned, ends):
    """What one condition says: a list with a Loop, with an Unbounded, or without any."""
    if not isinstance(test, ast.Compare):
        return []
    if any(isinstance(n, ast.Call) and name_of(n.func) in CLOCKS for n in ast.walk(test)):
        return [Unbounded("time")]
    try:
        loop = compare(test, variables, file, line, ends)
    except (Unknown, ArithmeticError, TypeError, ValueError):
        return [] if ends or not is_metric(test, variables) else [Unbounded("metric")]
    if loop is None:
        return []
    loop.follows_data = follows_data(test.left, assigned, 0) or \
        any(follows_data(c, assigned) for c in test.comparators)
    return [loop]


def is_metric(test, variables):
    """True for `while accuracy < 0.9`: a number with a fraction is compared with another."""
    try:
        values = [evaluate(n, variables) for n in (test.left, test.comparators[0])]
    except (Unknown, ArithmeticError, TypeError, ValueError):
        return False
    return any(isinstance(v, float) and v != int(v) for v in values if v == v and abs(v) < 1e300)


def disjuncts(test):
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return [t for value in test.values for t in disjuncts(value)]
    return [test]


def conjuncts(test):
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [t for value in test.values for t in conjuncts(value)]
    return [test]


def compare(test, variables, file, line, ends):
    """The loop that goes on while `n < total`, or that ends when `n >= total`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, op, right = test.left, test.ops[0], test.comparators[0]
    kinds = (ast.GtE, ast.Eq, ast.Gt) if ends else (ast.Lt, ast.NotEq, ast.LtE)
    if not isinstance(op, kinds) or isinstance(left, ast.Constant):
        left, right, op = right, left, TURNED.get(type(op), type(op))()  # `total > n`
    more = 0
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add) and \
            isinstance(left.right, ast.Constant):
        left, more = left.left, left.right.value  # `n + 1 >= total`
    if not isinstance(op, kinds) or not isinstance(left, (ast.Name, ast.Attribute, ast.Subscript)):
        return None
    value, total = integer(left, variables), integer(right, variables) - more
    if isinstance(op, (ast.Gt, ast.LtE)):
        total += 1
    if total <= max(value, 1):
        return None
    name = name_of(left) or "item"
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
