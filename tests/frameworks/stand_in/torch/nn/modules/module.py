class Handle:
    def remove(self):
        pass


def register_module_forward_pre_hook(hook):
    return Handle()
