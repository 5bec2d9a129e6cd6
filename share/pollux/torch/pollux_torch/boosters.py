"""XGBoost and LightGBM: a boosting round is an update; there are no samples to count."""

from . import core
from .plain import PlainSteps


def install_xgboost(module):
    """Called when xgboost.training was imported: its train() makes a container of callbacks."""
    helper = core.helper()
    steps = PlainSteps(helper)
    container = module.CallbackContainer
    real_after = container.after_iteration

    def round_ends(epoch):
        steps.count = epoch
        steps.tick()

    ended = helper.guard("xgboost.round", round_ends)
    begins = helper.guard("xgboost.train", lambda rounds: begin(helper, steps, "xgboost", rounds))

    def after_iteration(self, model, epoch, *args, **kwargs):
        result = real_after(self, model, epoch, *args, **kwargs)
        if not self.is_cv:
            ended(epoch)
        return result

    container.after_iteration = after_iteration
    watch_total(container, begins)


def watch_total(container, begins):
    """The number of rounds is a local variable of the caller of before_training()."""
    import sys

    real = container.before_training

    def before_training(self, model):
        if not self.is_cv:
            variables = sys._getframe(1).f_locals
            begins(variables.get("num_boost_round"))
        return real(self, model)

    container.before_training = before_training


def begin(helper, steps, name, rounds):
    from .frameworks import version_of

    helper.framework(name, version_of(name))
    steps.expect(TOTAL_STEPS=rounds)


def install_lightgbm(module):
    """Called when lightgbm.engine was imported."""
    helper = core.helper()
    steps = PlainSteps(helper)
    booster = module.Booster
    real_update, real_choose = booster.update, getattr(module, "_choose_num_iterations", None)
    ended = helper.guard("lightgbm.round", steps.tick)
    begins = helper.guard("lightgbm.train", lambda p: begin(
        helper, steps, "lightgbm", p.get("num_iterations")))

    def update(self, *args, **kwargs):
        result = real_update(self, *args, **kwargs)
        ended()
        return result

    booster.update = update
    if real_choose is not None:
        def _choose_num_iterations(*args, **kwargs):
            params = real_choose(*args, **kwargs)
            begins(params)
            return params

        module._choose_num_iterations = _choose_num_iterations
