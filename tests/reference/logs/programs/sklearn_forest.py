from sklearn.ensemble import RandomForestClassifier
import numpy as np

X = np.random.default_rng(0).normal(size=(200, 5))
RandomForestClassifier(n_estimators=40, verbose=2).fit(X, X[:, 0] > 0)
