from sklearn.ensemble import GradientBoostingClassifier
import numpy as np

X = np.random.default_rng(0).normal(size=(200, 5))
GradientBoostingClassifier(n_estimators=60, verbose=1).fit(X, X[:, 0] > 0)
