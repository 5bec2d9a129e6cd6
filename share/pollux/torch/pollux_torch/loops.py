"""Finds the loops of the running program around the line that is being executed.

It reads only names, attributes, constants and simple arithmetic. Of the program's functions it
calls __len__() alone.
"""

import ast
import itertools
import linecache
import os
import sys
import sysconfig

from .expressions import (FAILURES, Unknown, Variables, assigned_in, divisor_of_updates, evaluate,
                          follows_data, integer, name_of, truth)

MAX_FRAMES = 40
CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "time_ns", "now")
TURNED = {ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Lt: ast.Gt, ast.LtE: ast.GtE}
MAX_SOURCE = 2_000_000  # characters of a file that is parsed
# What yields as many items as its first argument; another function may yield them for ever.
BARS = ("tqdm", "track", "progress_bar", "log_every", "skip_first_batches", "enumerate", "list",
        "zip", "iter")
RANGES = ("range", "trange")
EXITS = ("exit", "quit", "_exit")
# The operators of `n < total` in a while loop and of `if n >= total: break`, for counters that go
# up and for those that go down.
UP = {False: (ast.Lt, ast.NotEq, ast.LtE), True: (ast.GtE, ast.Eq, ast.Gt)}
DOWN = {False: (ast.Gt, ast.NotEq, ast.GtE), True: (ast.LtE, ast.Eq, ast.Lt)}


class Loop:
    """State of a loop: the value of its counter, and the iterations left, with the present one."""

    def __init__(self, key, name, is_for, value, left, total):
        self.key, self.is_for, self.value = key, is_for, value
        self.left, self.total = left, total  # total is None of a counter that goes down
        self.follows_data = False  # its bound was computed from the data and the batch size
        self.per_epoch = None  # its bound is a number of updates divided by this one
        self.is_with_data = False  # ends with the data, too: zip(range(n), loader)
        self.is_named_epoch = "epoch" in name.lower() or name.lower() in ("ep", "e")


class Cap(Loop):
    """`for batch in islice(loader, n)`: no counter, at most n iterations."""

    def __init__(self, key, total):
        super().__init__(key, "", True, 0, total, total)


class Pass:
    """`for batch in loader`: one pass over the data."""


class Unbounded:
    """A loop that ends by a time or by a metric."""

    def __init__(self, ends):
        self.ends = ends


LOOPS = (ast.For, ast.While)
INLINE = {ast.ListComp: "elt", ast.SetComp: "elt", ast.GeneratorExp: "elt", ast.DictComp: "value"}
LEVELS = LOOPS + (ast.AsyncFor,) + tuple(INLINE)
# Packages whose loops around an update are none of the training.
NOT_READ = ("torch", "accelerate", "deepspeed", "pollux_torch")


class Finder:
    def __init__(self):
        self.trees = {}  # file name -> list of loop nodes with (first, last) line
        self.sources = {}  # file name -> {name: expressions that are assigned to it}
        here, libraries = __file__.rsplit("/", 1)[0], {
            p + "/" for p in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")) if p}
        self.libraries = tuple(libraries)
        self.not_read = (here,) + tuple(p + name + "/" for p in libraries for name in NOT_READ)
        self.stdlib = sysconfig.get_path("stdlib") or here
        self.ours = (here, self.stdlib, *libraries)

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
        return [x for found in self.read_in(frame, lambda node, variables: read(node, variables))
                for x in found]

    def read_in(self, frame, read_node, types=LOOPS):
        """What read_node(node, variables) makes of the loops around a frame's line, innermost
        first."""
        code = frame.f_code
        # Before 3.13 locals() gives the program the very dictionary that is filled here.
        if sys.version_info < (3, 13) and not {"locals", "vars"}.isdisjoint(code.co_names):
            return []
        nodes = self.nodes_of(code.co_filename, frame.f_globals)
        line, first = frame.f_lineno, code.co_firstlineno
        nodes = [n for n in nodes if first <= n.lineno <= line <= n.end_lineno and
                 isinstance(n, types)]
        if not nodes:
            return []
        variables = Variables(frame, self.sources.get(code.co_filename, {}))
        try:
            return [read_node(node, variables) for node in reversed(nodes)]
        finally:
            variables.close()

    def levels(self):
        """(the loops whose bodies are being executed, also in packages, innermost first, as
        nest.Level; the lines from which the functions were called)"""
        from .nest import level_of

        found, seen, sites, inner, frame = [], set(), [], set(), sys._getframe(1)
        for _ in range(MAX_FRAMES):
            if frame is None:
                break
            name, line = frame.f_code.co_filename, frame.f_lineno
            is_library = name.startswith(self.libraries)
            if name.startswith(self.not_read) or name.startswith("<frozen") or \
                    (name.startswith(self.stdlib) and not is_library):
                frame = frame.f_back
                continue

            def read_node(node, variables):
                node = as_for(node, frame)
                if node is None or id(node) in seen or \
                        not node.body[0].lineno <= line <= node.body[-1].end_lineno:
                    return None
                seen.add(id(node))
                return level_of(node, variables, line)

            its = [x for x in self.read_in(frame, read_node, LEVELS) if x]
            if its:
                its[0].sets |= inner  # names of the functions that its body calls
                inner = set()
            for level in its:
                level.is_library = is_library
            found += its
            if frame.f_code.co_flags & 2:
                inner.update(frame.f_code.co_varnames)
            sites.append((name, line))
            frame = frame.f_back
        return found, tuple(sites[1:])

    def nodes_of(self, name, module_globals):
        if name not in self.trees:
            # A module of an archive has no file. To open a pipe again would wait for a writer.
            is_text = os.path.isfile(name) or not os.path.exists(name)
            text = "".join(linecache.getlines(name, module_globals)) if is_text else ""
            nodes = []
            if 0 < len(text) <= MAX_SOURCE:
                try:
                    tree = ast.parse(text)
                    nodes = [n for n in ast.walk(tree) if isinstance(n, LEVELS)]
                    self.sources[name] = assigned_in(tree)
                except (SyntaxError, ValueError, RecursionError):
                    pass
            self.trees[name] = sorted(nodes, key=lambda n: n.lineno)
        return self.trees[name]


def as_for(node, frame):
    """The node, or a for loop in the place of `[train(x) for x in xs]`, if it is being run."""
    part = INLINE.get(type(node))
    if part is None:
        return node
    code = frame.f_code
    if hasattr(code, "co_positions"):
        first, last, begin, end = next(
            itertools.islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
        if None in (first, last, begin, end) or (first, begin) < (node.lineno, node.col_offset) \
                or (last, end) > (node.end_lineno, node.end_col_offset):
            return None
    elif not code.co_name.startswith("<"):
        return None
    if not hasattr(node, "as_for"):
        body = ast.copy_location(ast.Expr(getattr(node, part)), node)
        one = node.generators[0]
        node.as_for = ast.copy_location(ast.For(one.target, one.iter, [body], []), node)
    return node.as_for


def read(node, variables):
    """The loops of a For or While node: several, where it has several ways to end."""
    parts = (numbers_of, caps_of, pass_of) if isinstance(node, ast.For) else (test_of,)
    found = []
    for part in parts + (breaks_of,):
        try:
            found += part(node, variables)
        except FAILURES:
            pass
    return found


# --- for

def numbers_of(node, variables):
    """The loop of `for x in range(...)`, also within tqdm(...), zip(...) or another call."""
    target, counted = counter_of(node, variables)
    arguments = counted.args if isinstance(counted, ast.Call) else []
    numbers = range(*(integer(a, variables) for a in arguments)) if arguments \
        else range_in(evaluate(counted, variables))
    value = integer(target, variables)
    if value not in numbers:
        return []
    left = len(range(value, numbers.stop, numbers.step))
    key = (variables.file, node.lineno, 0)
    if numbers.step < 0:
        return [Loop(key, name_of(target), True, -value, left, None)]
    # The start 1 means that the program counts from 1. Any other start is where it continues.
    counts_from_one = len(arguments) > 1 and isinstance(arguments[0], ast.Constant) \
        and numbers.start == 1
    total = numbers.stop - 1 if counts_from_one else numbers.stop
    loop = Loop(key, name_of(target), True, value, left, total)
    trace(loop, arguments or [counted], variables)
    loop.is_with_data = any(isinstance(n, ast.Call) and name_of(n.func) == "zip" and
                            any(is_finite(a, variables) for a in n.args)
                            for n in ast.walk(node.iter))
    return [loop]


def range_in(value):
    """A range, also in a progress bar around it."""
    value = getattr(value, "__dict__", {}).get("iterable", value)
    return value if isinstance(value, range) else no_loop()


def no_loop():
    raise Unknown


def counter_of(node, variables):
    """(the counter, what it counts: a call of range, or what may hold a range)"""
    targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
    inner, index = node.iter, 0
    while isinstance(inner, ast.Call) and name_of(inner.func) not in RANGES:
        if not inner.args or name_of(inner.func) == "enumerate":
            no_loop()
        if name_of(inner.func) == "zip":
            index = next((i for i, a in enumerate(inner.args) if isinstance(a, ast.Call)
                          and name_of(a.func) in RANGES), 0)
            inner = inner.args[index]
        else:
            inner = inner.args[0]
    if index >= len(targets) or not isinstance(targets[index], (ast.Name, ast.Attribute)):
        no_loop()
    return targets[index], inner


def caps_of(node, variables):
    """The bound of `for ... in islice(loader, n)`, also within tqdm(...) or enumerate(...)."""
    call = node.iter
    while isinstance(call, ast.Call) and call.args:
        if name_of(call.func) == "islice":
            bounds = call.args[1:]
            end = bounds[0] if len(bounds) == 1 else bounds[1] if len(bounds) > 1 else None
            if end is None:
                return []
            cap = Cap((variables.file, node.lineno, "islice"), integer(end, variables))
            trace(cap, [end], variables)
            cap.is_with_data = is_finite(call.args[0], variables)
            return [cap]
        call = call.args[0]
    return []


def pass_of(node, variables):
    return [Pass()] if is_finite(node.iter, variables) else []


def is_finite(node, variables):
    """True for a loader, or another thing of the program that has a length, also in BARS."""
    while isinstance(node, ast.Call) and node.args and name_of(node.func) in BARS:
        node = node.args[0]
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return False
    try:
        value = evaluate(node, variables)
    except FAILURES:
        return False
    value = getattr(value, "__dict__", {}).get("iterable", value)
    return hasattr(type(value), "__len__") and not isinstance(value, range)


def trace(loop, bounds, variables):
    """Finds out what the bound of a loop was computed from."""
    loop.follows_data = any(follows_data(b, variables) for b in bounds)
    for bound in bounds:
        divisor = divisor_of_updates(bound, variables)
        if divisor is not None:
            try:
                loop.per_epoch = integer(divisor, variables)
            except FAILURES:
                loop.per_epoch = 0  # not known


# --- while, and breaks in any loop

def test_of(node, variables):
    return bounds_of(node.test, variables, node.lineno, ends=False)


def breaks_of(node, variables):
    """Bounds from `if n >= total: break`, and from `if n < total: ... else: break`."""
    found, flags = [], flags_of(node)
    for inner in ast.walk(node):
        if not isinstance(inner, ast.If):
            continue
        if leaves(inner.body, flags):
            found += bounds_of(inner.test, variables, inner.lineno, ends=True)
        elif leaves(inner.orelse, flags):
            found += bounds_of(inner.test, variables, inner.lineno, ends=False)
    return found


def flags_of(node):
    """The names that end the loop by being set: `while not done`, `if done: break`."""
    tests = [n.test for n in ast.walk(node) if isinstance(n, ast.While) or
             (isinstance(n, ast.If) and leaves(n.body, ()))]
    return {name_of(leaf) for test in tests for leaf, _ in conditions_of(test, True)} - {""}


def leaves(body, flags):
    """True if statements end a loop: the last one, or one that sets a flag."""
    last = body[-1] if body else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        return name_of(last.value.func) in EXITS
    return isinstance(last, (ast.Break, ast.Return, ast.Raise)) or any(
        isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant) and
        isinstance(s.value.value, bool) and name_of(s.targets[0]) in flags for s in body)


def conditions_of(test, ends, variables=None):
    """(condition, whether it ends the loop) of a test, through not, and, or."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return conditions_of(test.operand, not ends, variables)
    if not isinstance(test, ast.BoolOp):
        return [(test, ends)]
    # `if a and b: break` ends the loop by a if b only says whether there is a bound.
    needs_all = isinstance(test.op, ast.And) == ends
    return [pair for part in test.values
            if not needs_all or all(o is part or is_guard(o, part, ends, variables)
                                    for o in test.values)
            for pair in conditions_of(part, ends, variables)]


def is_guard(other, part, ends, variables):
    """True for `max_steps > 0` beside `step >= max_steps`, and for a flag, unless it is off."""
    if any(isinstance(n, ast.Compare) for n in ast.walk(other)) and \
            not names_in(other) <= names_in(part):
        return False
    try:
        return variables is None or truth(other, variables) == ends
    except FAILURES:
        return True


def names_in(node):
    return {name_of(n) for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))}


def bounds_of(test, variables, line, ends):
    """What a condition says: a list of Loop and Unbounded."""
    found = []
    for condition, its_end in conditions_of(test, ends, variables):
        if isinstance(condition, (ast.Name, ast.Attribute)) and not its_end:
            condition = ast.Compare(condition, [ast.NotEq()], [ast.Constant(0)])  # `while left:`
        if isinstance(condition, ast.Compare) and len(condition.ops) == 1:
            found += bound_of(condition, variables, line, its_end)
    return found


def bound_of(test, variables, line, ends):
    if any(isinstance(n, ast.Call) and name_of(n.func) in CLOCKS for n in ast.walk(test)):
        return [Unbounded("time")]
    left, op, right = test.left, test.ops[0], test.comparators[0]
    turned = TURNED.get(type(op), type(op))()  # `total > n`
    try:
        loops = [compare(left, op, right, variables, line, ends),
                 compare(right, turned, left, variables, line, ends)]
    except FAILURES:
        return [] if ends or not is_metric(test, variables) else [Unbounded("metric")]
    return [loop for loop in loops if loop is not None]


def is_metric(test, variables):
    """True for `while accuracy < 0.9`: a number with a fraction is compared with another."""
    try:
        values = [evaluate(n, variables) for n in (test.left, test.comparators[0])]
    except FAILURES:
        return False
    return any(isinstance(v, float) and v != int(v) for v in values if v == v and abs(v) < 1e300)


def compare(left, op, right, variables, line, ends):
    """The loop that goes on while `n < total` or `n > total`, or that ends when it is not so."""
    more = 0
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add) and \
            isinstance(left.right, ast.Constant):
        left, more = left.left, left.right.value  # `n + 1 >= total`
    if isinstance(left, ast.NamedExpr):
        left = left.target
    value, total = integer(left, variables), integer(right, variables) - more
    if not isinstance(left, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        return None
    name = name_of(left.func if isinstance(left, ast.Call) else left) or "item"
    key = (variables.file, line, name)
    if isinstance(op, UP[ends]):
        total += isinstance(op, (ast.Gt, ast.LtE))
        if total > max(value, 1):
            loop = Loop(key, name, False, value, total - value, total)
            trace(loop, [right], variables)
            return loop
    if isinstance(op, DOWN[ends]) and total < value:
        left_over = value - total + isinstance(op, (ast.Lt, ast.GtE))
        return Loop(key, name, False, -value, left_over, None)
    return None
