from . import module
