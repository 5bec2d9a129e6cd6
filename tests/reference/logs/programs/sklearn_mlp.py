from sklearn.neural_network import MLPClassifier
import numpy as np

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 5))
MLPClassifier(max_iter=30, verbose=True).fit(X, (X[:, 0] > 0).astype(int))
