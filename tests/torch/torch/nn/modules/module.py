class Handle:
    def remove(self):
        pass


class Module:
    training = True


def register_module_forward_pre_hook(hook, **kwargs):
    return Handle()


register_module_forward_hook = register_module_forward_pre_hook
