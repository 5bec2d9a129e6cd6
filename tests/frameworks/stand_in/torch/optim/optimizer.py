before, after = [], []


def register_optimizer_step_pre_hook(hook):
    before.append(hook)


def register_optimizer_step_post_hook(hook):
    after.append(hook)


class Optimizer:
    def __init__(self, parameters):
        self.param_groups = [{"params": list(parameters), "lr": 0.1}]
        self.rates = set()

    @property
    def used(self):
        return sorted(self.rates)

    def step(self):
        for hook in before:
            hook(self, (), {})
        self.rates.add(self.param_groups[0]["lr"])
        for hook in after:
            hook(self, (), {})

    def load_state_dict(self, state):
        pass
