"""What is left of the loops around an update, from the innermost outward.

    length    iterations of a loop, by what it goes over: a range, a loader, a list, a zip of them
    index     those that are done; both None where they are not known
    counter   a number that the loop is compared with: `while step < total`, `if n >= total: break`

The iterations of all loops together, each within the one around it, are counted from the innermost.
How many updates one of these makes is measured between two looks, so that it may be any number.
A loop that is not understood leaves the length of those around it unknown.
"""

import ast
import math

from .expressions import FAILURES, PLAIN, Unknown, evaluate, integer, name_of, truth
from .loops import BARS, RANGES, Loop, breaks_of, names_in, test_of

MAX_CHOSEN = 1000  # iterations for which a condition on their value is looked at
ENDLESS = ("cycle", "repeat", "count")
VIEWS = ("items", "keys", "values")
NEITHER = ("val", "test", "eval", "dev")  # phases without updates


class Level:
    """A loop around an update."""

    def __init__(self, key, name):
        self.key, self.name = key, name
        self.index = self.length = None
        self.ids = ()  # of what the loop goes over
        self.counters = []  # Loops whose counters are not those of a for loop
        self.counts = set()  # names that the loop itself increases by one
        self.sets = set()  # names that each iteration sets anew
        self.is_library = self.gets_batches = False
        self.is_data = False  # it goes over the batches of a DataLoader
        self.is_rest = False  # length is that of the rest of a pass: the next one is longer

    @property
    def is_named_epoch(self):
        return "epoch" in self.name.lower() or self.name.lower() in ("ep", "e")


class Left:
    """Of the loops together. left, full: updates; those of the present iteration are left."""

    def __init__(self, left, full):
        self.left, self.full = left, full


# --- reading

def level_of(node, variables, line):
    """The Level of a loop whose body is being executed, or None if it ends with this iteration."""
    tests, ends = path_of(node.body, line)
    if ends:
        return None
    target = getattr(node, "target", None)
    level = Level((variables.file, node.lineno), name_of(target) if target is not None else "")
    values = ()
    if isinstance(node, ast.For):
        level.gets_batches = not isinstance(constant(target, variables), int) and not any(
            isinstance(n, ast.Call) and name_of(n.func) in ENDLESS for n in ast.walk(node.iter))
        values = read_items(level, node, variables)
    counters = []
    for part in (test_of, breaks_of) if isinstance(node, ast.While) else (breaks_of,):
        try:
            counters += [x for x in part(node, variables) if isinstance(x, Loop)]
        except FAILURES:
            pass
    targets = names_in(target) if target is not None else set()
    level.sets, level.counts = set_in(node.body), counted_in(node.body)
    for counter in counters:
        name, total = counter.key[2], counter.total
        if name not in targets:
            if name not in level.sets:  # else it is of a loop within this one
                level.counters.append(counter)
        elif total:
            total += counter.key[1] > line  # looked at when the iteration is done
            if level.length is None or total < level.length:
                level.index, level.length = counter.value, total
    if values:
        choose(level, target, values, tests, variables)
    return level


def read_items(level, node, variables):
    """Sets length and index. Returns the values that the target takes, where these are known."""
    values = ()
    try:
        level.length, values = items(node.iter, variables, level)
    except FAILURES:
        pass
    try:
        level.index = index_of(node.target, node.iter, variables, values)
    except FAILURES:
        pass
    if isinstance(values, range) and level.index is not None and goes_on(node.iter):
        # A start other than 0 and 1 is where the program continues.
        level.index, level.length = level.index + values.start, values.stop
    return values


def goes_on(node):
    """True for range(start, stop), if the start is no 1."""
    while isinstance(node, ast.Call) and node.args and name_of(node.func) not in RANGES:
        node = node.args[0]
    start = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 2 else None
    return start is not None and not (isinstance(start, ast.Constant) and start.value == 1)


def items(node, variables, level=None):
    """(how many things a loop over an expression gets, the plain ones among these)"""
    if isinstance(node, (ast.List, ast.Tuple)):
        return len(node.elts), [constant(e, variables) for e in node.elts]
    if not isinstance(node, ast.Call):
        value = evaluate(node, variables)
        value = getattr(value, "__dict__", {}).get("iterable", value)
        return items_of(value, level)
    name, arguments = name_of(node.func), node.args
    if name in RANGES and arguments:
        return items_of(range(*(integer(a, variables) for a in arguments)), None)
    if name in ("zip", "product") and arguments:
        lengths = [n for n in (length_of(a, variables, level) for a in arguments) if n is not None]
        if not lengths or (name == "product" and len(lengths) < len(arguments)):
            raise Unknown
        return min(lengths) if name == "zip" else math.prod(lengths), ()
    if name == "islice" and len(arguments) == 2:
        end, n = integer(arguments[1], variables), length_of(arguments[0], variables, level)
        return end if n is None else min(n, end), ()
    if name in VIEWS and not arguments and isinstance(node.func, ast.Attribute):
        return items_of(evaluate(node.func.value, variables), None)
    if name == "split" and isinstance(node.func, ast.Attribute):  # of scikit-learn
        return integer(ast.Attribute(node.func.value, "n_splits"), variables), ()
    if name in BARS + ("reversed", "sorted", "tuple", "set") and arguments:
        n, values = items(arguments[0], variables, level)
        return n, values if name in BARS and name != "enumerate" else ()
    raise Unknown


def length_of(node, variables, level):
    """The same number; None: it never ends, or is not known."""
    if isinstance(node, ast.Call) and name_of(node.func) in ENDLESS:
        return None
    try:
        return items(node, variables, level)[0]
    except FAILURES:
        return None


def items_of(value, level):
    if level is not None:
        level.ids += (id(value),)
    if not hasattr(type(value), "__len__"):
        raise Unknown
    try:
        n = len(value)
    except Exception:
        raise Unknown from None
    return n, value if isinstance(value, (range, list, tuple)) else \
        list(value) if type(value) is dict and n <= MAX_CHOSEN else ()


def constant(node, variables):
    try:
        return evaluate(node, variables)
    except FAILURES:
        return None


def index_of(target, node, variables, values):
    """Where the loop stands, by the value of its target."""
    while isinstance(node, ast.Call) and node.args and name_of(node.func) in BARS:
        name = name_of(node.func)
        if name == "enumerate":
            starts = [k.value for k in node.keywords if k.arg == "start"] + node.args[1:2]
            start = integer(starts[0], variables) if starts else 0
            return integer(target.elts[0], variables) - start \
                if isinstance(target, ast.Tuple) else unknown()
        if name == "zip":
            for one, its in zip(getattr(target, "elts", ()), node.args):
                try:
                    return index_of(one, its, variables, items(its, variables)[1])
                except FAILURES:
                    continue
            raise Unknown
        node = node.args[0]
    value = evaluate(target, variables)
    if not isinstance(value, PLAIN) or not values or len(values) > MAX_CHOSEN and \
            not isinstance(values, range):
        raise Unknown
    if not isinstance(values, range) and sum(type(v) is type(value) and v == value
                                             for v in values) != 1:
        raise Unknown
    return values.index(value)


def unknown():
    raise Unknown


def set_in(body):
    found = set()
    for node in (n for statement in body for n in ast.walk(statement)):
        if isinstance(node, ast.Assign):
            found.update(*(names_in(t) for t in node.targets))
            found -= names_in(node.value)  # n = n + 1
        elif isinstance(node, ast.For):
            found |= names_in(node.target)
    return found


def counted_in(block):
    """The names that a block increases by one in any case, and once."""
    found = set()
    for node in block:
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            found.add(counted_by(node))
        elif isinstance(node, (ast.With, ast.Try)):
            found.update(*(counted_in(b) for b in blocks_of(node)))
    return found


def counted_by(node):
    """n, for `n += 1` and `n = n + 1`"""
    value, targets = node.value, [getattr(node, "target", None)]
    if isinstance(node, ast.Assign):
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add) or \
                len(node.targets) != 1 or name_of(value.left) != name_of(node.targets[0]):
            return ""
        value, targets = value.right, node.targets
    is_one = isinstance(value, ast.Constant) and value.value == 1
    return name_of(targets[0]) if is_one else ""


# --- the way from a loop to the line that is being executed

def path_of(body, line):
    """(conditions on the way with their values, whether the loop is left behind this line)"""
    tests, ends, is_inner, block = [], False, False, body
    while block:
        at = next((i for i, s in enumerate(block) if s.lineno <= line <= s.end_lineno), None)
        if at is None:
            break
        here, behind = block[at], block[at + 1:]
        ends = ends or isinstance(here, ast.Return) or any(
            isinstance(s, ast.Return) or (isinstance(s, ast.Break) and not is_inner)
            for s in behind)
        is_inner = is_inner or isinstance(here, (ast.For, ast.While))
        block = None
        for part in blocks_of(here):
            if part and part[0].lineno <= line <= part[-1].end_lineno:
                block = part
                if isinstance(here, ast.If):
                    tests.append((here.test, part is here.body))
    return tests, ends


def blocks_of(node):
    blocks = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    blocks += [h.body for h in getattr(node, "handlers", ())]
    blocks += [c.body for c in getattr(node, "cases", ())]
    return [b for b in blocks if isinstance(b, list)]


class With:
    """Variables, of which one has another value."""

    def __init__(self, variables, name, value):
        self.variables, self.name, self.value = variables, name, value

    def get(self, name):
        return self.value if name == self.name else self.variables.get(name)


def choose(level, target, values, tests, variables):
    """Counts only the iterations whose value leads here: `for phase in ("train", "val")`."""
    name = name_of(target)
    tests = [(t, holds) for t, holds in tests if name and name in names_in(t)]
    if level.index is None or len(values) > MAX_CHOSEN or not name:
        return
    if tests:
        try:
            chosen = [all(truth(t, With(variables, name, v)) == holds for t, holds in tests)
                      for v in values]
        except FAILURES:
            level.length = None
            return
    elif all(isinstance(v, str) for v in values):
        chosen = [not v.lower().startswith(NEITHER) for v in values]
    else:
        return
    before = level.length - len(values)  # of a range that goes on
    level.index = before + sum(chosen[:level.index - before])
    level.length = before + sum(chosen)


# --- what is left

def place(levels, updates):
    """Sets the indexes that are not known, by the updates that were made since the program began:
    updates is their number in iterations of the innermost loop."""
    inner, full = 0, 1
    for level in levels:
        if level.length is None:
            break
        if level.index is None:
            level.index = round((updates - inner) / full) % level.length if full else 0
        if level.is_rest:
            break
        inner += level.index * full
        full *= level.length


def position(levels):
    """Iterations of the innermost loop that are done, as far outward as all is known; None."""
    done, full = 0, 1
    for level in levels:
        if level.length is None or level.index is None or level.is_rest:
            return None
        done += level.index * full
        full *= level.length
    return done


def mark_rest(levels, updates, each):
    """In the first pass after a resume: marks the loop over the data as the rest of a pass, unless
    the updates since the first launch are those of the iterations that the loops have done. each:
    updates of an iteration."""
    at = position(levels)
    data = next((level for level in levels if level.is_data), None)
    if data is not None:
        data.is_rest = at is None or abs(at * each - updates) >= 1


def settle(levels):
    """Takes a counter that a loop increases itself, and that begins anew with it, for its index."""
    for level, outer in zip(levels, levels[1:] + [None]):
        for counter in level.counters:
            if level.length is None and counter.total and counter.key[2] in level.counts and \
                    (outer is None or counter.key[2] in outer.sets):
                level.index, level.length = counter.value, counter.total


def left_of(levels, each, rate_of):
    """(the Left of each loop with those within it, or None, updates to a limit of all, or None)

    each: updates of an iteration of the innermost loop. rate_of(counter): updates of one count, or
    None. A counter that begins anew in each iteration of the loop around ends only its own loop.
    """
    found, left, full, limits = [], each, each, []
    for level, outer in zip(levels, levels[1:] + [None]):
        ways = []
        if full is not None and level.length is not None and level.index is not None:
            ways.append((left + max(0, level.length - 1 - level.index) * full, level.length * full))
        for counter in level.counters:
            if counter.key[2] in level.counts and full is not None:
                way = (left + (counter.left - 1) * full, (counter.total or counter.left) * full)
            else:
                rate = rate_of(counter)
                if rate is None:
                    continue
                way = (counter.left * rate, (counter.total or counter.left) * rate)
            if outer is not None and counter.key[2] in outer.sets:
                ways.append(way)
            else:
                limits.append(way[0])
        if not ways and full is not None and level.is_library and found:
            ways.append((left, full))
        left, full = min(ways) if ways else (None, None)
        found.append(Left(left, full) if ways else None)
        if level.is_rest:
            full = None  # of the passes to come
    return found, min(limits) if limits else None
