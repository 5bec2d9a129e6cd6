def save(obj, f):
    open(f, "w").close()


def load(f):
    return {}
