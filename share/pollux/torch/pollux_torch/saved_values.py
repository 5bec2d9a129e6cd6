"""What lies in the values that a program saves."""

import itertools

MAX_DEPTH = 3  # levels of dictionaries and lists that are looked at
MAX_LOOKS = 2000  # values at each level


def values_in(obj):
    """obj and the values in it, level by level. Of each level shorter collections come first."""
    level = [obj]
    for _ in range(MAX_DEPTH + 1):
        inner = []
        for x in itertools.islice(level, MAX_LOOKS):
            yield x
            if isinstance(x, dict):
                inner.append(x.values())
            elif isinstance(x, (list, tuple)):
                inner.append(x)
        level = itertools.chain.from_iterable(sorted(inner, key=len))


def has_optimizer(torch, obj):
    """True if an optimizer or its state is saved."""
    return any("param_groups" in x and "state" in x if isinstance(x, dict)
               else isinstance(x, torch.optim.Optimizer) for x in values_in(obj))


def holds_optimizer_object(torch, obj):
    values = obj.values() if isinstance(obj, dict) else [obj]
    return any(isinstance(v, torch.optim.Optimizer) for v in values)


def holds_weights(torch, obj):
    kinds = (torch.Tensor, torch.nn.Module)
    return any(isinstance(x, kinds) for x in values_in(obj))
