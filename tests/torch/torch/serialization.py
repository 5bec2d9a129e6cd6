import pickle


def save(obj, f):
    if hasattr(f, "write"):
        pickle.dump(obj, f)
        return
    with open(f, "wb") as file:
        pickle.dump(obj, file)


def load(f):
    if hasattr(f, "read"):
        return pickle.load(f)
    with open(f, "rb") as file:
        return pickle.load(file)
