"""The families of optimizers: by which rule the learning rate of each follows the batch size.

sgd     AdaScale's gain
adam    its square root: updates are divided by a norm of the gradients
other   no rule is known (signs of gradients, orthogonal updates, rates that the optimizer finds by
        itself): the rate stays, and pollux does not change the batch unless --lr-rule names a rule
search  L-BFGS and other line searches: the batch must not change
"""

import re

SGD = {"sgd", "asgd", "sgdw", "sgdp", "lars", "nsgd", "fusedsgd"}
ADAM = {"rmsprop", "rmsproptf", "adagrad", "adabelief", "lamb", "fusedlamb", "adabound", "yogi",
        "adan", "novograd"}
# Parts of names whose rule is not known, though they may be subclasses of those above.
OTHER = ("schedulefree", "dadapt", "prodigy", "muon", "lion", "mechanic", "cocob", "dog", "sign",
         "rprop")


def kind_of(optimizer):
    """(family, name of the class) of an optimizer; of the one within, where it wraps another."""
    names = [c.__name__ for c in type(optimizer).__mro__]
    inner = None if is_other(names) else wrapped(optimizer)
    if inner is not None:
        return kind_of(inner)
    return family_of(names, optimizer.param_groups), names[0]


def wrapped(optimizer):
    """The optimizer that this one has, if it has a single one."""
    own = getattr(optimizer, "__dict__", {}).values()
    inner = {id(v): v for v in own if v is not optimizer and hasattr(v, "step") and
             isinstance(getattr(v, "param_groups", None), list)}
    return next(iter(inner.values())) if len(inner) == 1 else None


def is_other(names):
    return any(word in n.lower().replace("_", "") for n in names for word in OTHER)


def family_of(names, groups=()):
    """names: of a class and its bases."""
    names = [re.sub(r"\d+bit$", "", n.lower()).replace("_", "") for n in names]
    if any("lbfgs" in n for n in names):
        return "search"
    if is_other(names):
        return "other"
    for n in names:
        if n in SGD:
            return "sgd"
        if n == "adafactor":
            finds_rate = any(g.get("lr") is None or g.get("relative_step", True) for g in groups)
            return "other" if finds_rate else "adam"
        if n in ADAM or "adam" in n:
            return "adam"
    return "other"


class Optimizers:
    """Those that a program has used, and what pollux is told of them."""

    def __init__(self, helper):
        self.helper = helper
        self.kinds = {}  # name of a class -> family
        self.main = None  # name of the main one's class
        self.sent = None

    def see(self, optimizer, is_main):
        family, name = kind_of(optimizer)
        self.kinds[name] = family
        if is_main or self.main is None:
            self.main = name
        family = self.kinds[self.main]
        for worst in ("other", "search"):
            if worst in self.kinds.values():
                family = worst
        names = [self.main] + [n for n in self.kinds if n != self.main]
        report = "%s %s" % (family, ", ".join(names))
        if report != self.sent and self.helper.rank.reports():
            self.sent = report
            self.helper.reporter.send({"OPTIMIZER": report})
