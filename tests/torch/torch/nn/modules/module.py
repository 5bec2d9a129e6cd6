class Handle:
    def remove(self):
        pass


class Module:
    training = True

    def load_state_dict(self, state_dict):
        pass


def register_module_forward_pre_hook(hook, **kwargs):
    return Handle()


register_module_forward_hook = register_module_forward_pre_hook
