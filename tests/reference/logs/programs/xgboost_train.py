import xgboost as xgb, numpy as np, os
rng = np.random.default_rng(0); X = rng.normal(size=(500, 5)); y = X[:, 0] + rng.normal(size=500)
d, v = xgb.DMatrix(X[:400], y[:400]), xgb.DMatrix(X[400:], y[400:])
prev = "x.json" if os.path.exists("x.json") else None
b = xgb.train({"nthread": 1}, d, 40 if prev is None else 20, evals=[(d, "train"), (v, "eval")], xgb_model=prev)
b.save_model("x.json")
