"""The backward pass: nothing has to be computed."""


def _make_grads(outputs, grads, is_grads_batched):
    return grads


def backward(tensors, *args, **kwargs):
    _make_grads((tensors,), args, is_grads_batched=False)
