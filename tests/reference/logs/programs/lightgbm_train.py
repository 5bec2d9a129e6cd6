import lightgbm as lgb, numpy as np, os
rng = np.random.default_rng(0); X = rng.normal(size=(500, 5)); y = X[:, 0] + rng.normal(size=500)
d = lgb.Dataset(X[:400], y[:400]); v = lgb.Dataset(X[400:], y[400:], reference=d)
prev = "l.txt" if os.path.exists("l.txt") else None
b = lgb.train({"num_threads": 1, "objective": "l2"}, d, 40 if prev is None else 20, valid_sets=[v], callbacks=[lgb.log_evaluation(5)], init_model=prev)
b.save_model("l.txt")
