"""The backward pass: nothing has to be computed."""


def backward(tensors, *args, **kwargs):
    pass
