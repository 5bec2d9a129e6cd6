"""Which modules are watched, and what is installed when a program has imported one."""

import os
import time
import weakref

from . import core


def lazily(module, function):
    """A function that loads the part's module only when its framework was imported."""
    def action(imported):
        from importlib import import_module

        getattr(import_module("." + module, __package__), function)(imported)

    return action


def actions():
    """Module name -> function(module), for the import hook."""
    return {
        "fastai.optimizer": lazily("fastai", "install"),
        "keras": lazily("keras", "install"),
        "keras.src.callbacks.callback_list": lazily("keras", "install_callbacks"),
        "keras.src.callbacks.backup_and_restore": lazily("keras", "install_backups"),
        "keras.src.trainers.epoch_iterator": lazily("keras", "install_iterators"),
        "xgboost.training": lazily("boosters", "install_xgboost"),
        "lightgbm.engine": lazily("boosters", "install_lightgbm"),
        "optax": watch_optax,
        "transformers.trainer": watch_trainer,
        "transformers.trainer_jit_checkpoint": watch_jit_checkpoint,
        "lightning.pytorch.trainer.trainer": watch_lightning_trainer,
        "pytorch_lightning.trainer.trainer": watch_lightning_trainer,
        "torch": install_torch,
        "torch.distributed.checkpoint.state_dict_saver": lazily(
            "distributed_checkpoints", "watch_saver"),
        "torch.distributed.checkpoint.state_dict_loader": lazily(
            "distributed_checkpoints", "watch_loader"),
        "torch.utils.data._utils.signal_handling": lazily("loaders", "install"),
        "tqdm.std": watch_tqdm,
        "transformers.trainer_callback": watch_transformers,
        "lightning.pytorch.loops.fetchers": lazily("resume_lightning", "watch_fetchers"),
        "pytorch_lightning.loops.fetchers": lazily("resume_lightning", "watch_fetchers"),
        "lightning.pytorch.loops.fit_loop": watch_lightning,
        "pytorch_lightning.loops.fit_loop": watch_lightning,
        "lightning.fabric.plugins.io.torch_io": watch_lightning_files,
        "lightning_fabric.plugins.io.torch_io": watch_lightning_files,
    }


def install_torch(torch):
    began_ns = time.thread_time_ns()
    helper = core.helper()
    helper.framework("torch", torch.__version__)
    try:
        install_parts(helper, torch)
    except Exception as error:
        helper.refuse("steps", "%s: %s" % (type(error).__name__, error))
    helper.start_ns += time.thread_time_ns() - began_ns


def install_parts(helper, torch):
    from . import no_noise
    from .checkpoints import Checkpoints
    from .learning_rate import LearningRate
    from .memory import Memory
    from .optimizers import Optimizers
    from .samples import Samples
    from .steps import Steps
    from .totals import Totals

    samples = Samples(helper, torch)
    steps = Steps(helper, torch, samples, no_noise.make(helper, torch))
    helper.learning_rate = LearningRate(helper)
    helper.optimizers = Optimizers(helper)
    helper.checkpoints = Checkpoints(helper, torch, steps)
    helper.totals = Totals(helper, torch, steps)
    helper.memory = Memory(helper, torch, steps)
    helper.steps = steps
    if "batch" in helper.options:
        from .batch import Batch

        helper.batch = Batch(helper, torch, steps)
    if helper.tqdm is not None:
        helper.totals.watch_bars(helper.tqdm)
    watch_compile(helper, torch, samples)


def watch_compile(helper, torch, samples):
    """Removes hooks before torch.compile runs, which would compile them into the program."""
    import functools

    real = getattr(torch, "compile", None)
    if real is None:
        return
    before = helper.guard("samples.compile", samples.input.compiles)
    after = helper.guard("samples.compiled", samples.input.compiled)

    @functools.wraps(real)
    def compile(*args, **kwargs):
        before()
        helper.refuse("gradient noise", "torch.compile")
        result = real(*args, **kwargs)
        after(result)
        if removes_hooks(torch.__version__):
            for part in ("steps", "learning rate", "batch"):
                helper.refuse(part, "torch.compile of torch %s removes the hooks of optimizers"
                              % torch.__version__)
        return result

    torch.compile = compile


def removes_hooks(version):
    """True for torch 2.0 to 2.2: torch.compile() takes the wrapper of an optimizer's step away."""
    numbers = version.split(".")[:2]
    return numbers[0] == "2" and numbers[1:] in (["0"], ["1"], ["2"])


def version_of(name):
    """The version of an imported package, from its module or its metadata."""
    import sys

    version = getattr(sys.modules.get(name), "__version__", None)
    if version is None:
        from importlib import metadata

        try:
            version = metadata.version(name)
        except Exception:
            version = ""
    return version


# --- tqdm

def watch_tqdm(module):
    helper = core.helper()
    helper.tqdm = module.tqdm
    if helper.totals is not None:
        helper.totals.watch_bars(module.tqdm)


# --- Hugging Face Trainer

def watch_transformers(module):
    """Adds a callback to Trainer: the state that callbacks get at the beginning has the totals."""
    helper = core.helper()
    handler = module.CallbackHandler
    real = handler.on_train_begin

    def begin(args, state):
        helper.framework("transformers", version_of("transformers"))
        reference = weakref.ref(state)

        def totals():
            state = reference()
            if state is None or state.max_steps <= 0:
                return None
            return {"TOTAL_STEPS": state.max_steps, "EPOCH": state.epoch,
                    "TOTAL_EPOCHS": state.num_train_epochs}

        helper.totals.from_framework = totals
        # max_steps given: the loop counts updates whatever the batch is.
        helper.totals.ends_by("steps" if args.max_steps > 0 else "epochs")

    def end(state):
        steps = helper.steps
        is_whole = 0 < state.max_steps <= state.global_step
        helper.ended(is_whole, steps.report if steps is not None and steps.own else None)

    begin = helper.guard("totals.transformers", begin)
    end = helper.guard("totals.transformers_end", end)

    def on_train_begin(handler, args, state, control, **kwargs):
        if helper.totals is not None:
            begin(args, state)
        return real(handler, args, state, control, **kwargs)

    handler.on_train_begin = on_train_begin
    real_end = handler.on_train_end

    def on_train_end(handler, args, state, control, **kwargs):
        result = real_end(handler, args, state, control, **kwargs)
        if helper.totals is not None:
            end(state)
        return result

    handler.on_train_end = on_train_end


def watch_trainer(module):
    from . import resume

    resume.watch_trainer(core.helper(), module)


def watch_jit_checkpoint(module):
    from . import resume

    resume.watch_jit_checkpoint(core.helper(), module)


# --- Lightning

def watch_lightning_trainer(module):
    import sys

    from . import resume_lightning

    package = module.__name__.rsplit(".", 2)[0]
    callback = sys.modules[package + ".callbacks"].Callback
    sigterm = sys.modules[package + ".utilities.exceptions"].SIGTERMException
    resume_lightning.watch(core.helper(), module.Trainer, callback, sigterm)


def watch_lightning(module):
    """Watches the fit loop, which knows its trainer, and the totals once its data are set up."""
    helper = core.helper()
    loop = module._FitLoop
    real = loop.run
    package = module.__name__.split(".")[0]

    def begin(fit_loop):
        helper.framework(package.replace("_", "-"), version_of(package))
        reference = weakref.ref(fit_loop)

        def totals():
            fit_loop = reference()
            return lightning_totals(fit_loop) if fit_loop is not None else None

        helper.totals.from_framework = totals
        helper.totals.end_from_framework = lambda: lightning_end(reference())

    def end(fit_loop):
        steps = helper.steps
        helper.ended(lightning_is_whole(fit_loop),
                     steps.report if steps is not None and steps.own else None)

    begin = helper.guard("totals.lightning", begin)
    end = helper.guard("totals.lightning_end", end)

    def run(fit_loop, *args, **kwargs):
        if helper.totals is not None:
            begin(fit_loop)
        result = real(fit_loop, *args, **kwargs)
        if helper.totals is not None:
            end(fit_loop)
        return result

    loop.run = run


def lightning_end(loop):
    """What ends the fit: the first of its limits, once the data are set up."""
    if loop is None or not isinstance(loop.max_batches, int) or loop.max_batches <= 0:
        has_steps = loop is not None and (loop.max_steps or -1) > 0
        return "steps" if has_steps else None
    limit = getattr(loop.trainer, "limit_train_batches", None)
    if isinstance(limit, int) and 0 < limit <= loop.max_batches:
        return "steps"  # so many updates an epoch, whatever the batch is
    if (loop.max_steps or -1) > 0:
        accumulation = max(1, loop.trainer.accumulate_grad_batches)
        epochs = loop.max_epochs if loop.max_epochs and loop.max_epochs > 0 else None
        if not epochs or loop.max_steps < epochs * -(-loop.max_batches // accumulation):
            return "steps"
    return "epochs"


def lightning_totals(loop):
    batches, epochs = loop.max_batches, loop.max_epochs
    steps = loop.max_steps if loop.max_steps and loop.max_steps > 0 else None
    values = {}
    if isinstance(batches, int) and batches > 0:
        done = max(0, loop.epoch_progress.current.ready - 1)
        values["EPOCH"] = done + loop.epoch_loop.batch_progress.current.ready / batches
        if epochs and epochs > 0:
            values["TOTAL_EPOCHS"] = epochs
            accumulation = max(1, loop.trainer.accumulate_grad_batches)
            all_epochs = epochs * -(-batches // accumulation)
            steps = min(steps, all_epochs) if steps else all_epochs
    values["TOTAL_STEPS"] = steps
    return {k: v for k, v in values.items() if v is not None}


def lightning_is_whole(loop):
    """True if the loop came to its last epoch or update, and was not left before."""
    epochs, steps = loop.max_epochs or -1, loop.max_steps or -1
    return (0 <= epochs <= loop.epoch_progress.current.processed or
            0 <= steps <= loop.epoch_loop.global_step)


def watch_lightning_files(module):
    """Watches the function that writes the file: Lightning first saves to memory, with no path."""
    helper = core.helper()
    io = module.TorchCheckpointIO
    real = io.save_checkpoint

    def saved(checkpoint, path):
        files = helper.checkpoints
        if files is not None and helper.rank.reports():
            if checkpoint.get("optimizer_states") or checkpoint.get("optimizer"):
                files.steps.clock.is_clean = False
                files.written(os.path.abspath(str(path)))

    saved = helper.guard("checkpoints.lightning", saved)

    def save_checkpoint(self, checkpoint, path, *args, **kwargs):
        result = real(self, checkpoint, path, *args, **kwargs)
        saved(checkpoint, path)
        return result

    io.save_checkpoint = save_checkpoint


# --- JAX

def watch_optax(module):
    """Optax updates run inside functions that JAX compiled, so the helper cannot see them."""
    helper = core.helper()
    helper.framework("jax", "%s, optax %s" % (version_of("jax"), version_of("optax")))
    if helper.steps is None:  # updates of PyTorch would be counted instead
        helper.refuse("steps", "updates of JAX are compiled; what the program prints is read")
