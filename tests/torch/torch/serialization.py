import pickle


def save(obj, f):
    with open(f, "wb") as file:
        pickle.dump(obj, file)


def load(f):
    with open(f, "rb") as file:
        return pickle.load(file)
