def backward(tensors, grad_tensors=None):
    pass
