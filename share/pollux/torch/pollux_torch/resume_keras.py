"""Option resume for Keras: its own BackupAndRestore, which saves each epoch, added to fit().

Beyond BackupAndRestore: a backup is complete or it is not there, since SIGTERM ends Keras at once;
and the random numbers go on, so that the next epoch has the same order of samples.
"""

import os
import pickle
import shutil

from . import random_numbers, resume

KEEP_A_STATE = ("EarlyStopping", "ReduceLROnPlateau")  # BackupAndRestore does not save it


def with_backup(helper, backup, given):
    """The list of callbacks with a backup, or None. backup: the class BackupAndRestore."""
    given = list(given) if isinstance(given, (list, tuple)) else [given] if given else []
    if backup is None or not resume.is_wanted(helper):
        return None
    if any(isinstance(c, backup) for c in given) or not resume.training(helper).begins():
        return None
    for callback in given:
        if type(callback).__name__ in KEEP_A_STATE:
            helper.refuse("resume", type(callback).__name__ + " keeps a state that is not saved")
            return None
    resume.tell(helper, resume.CONTINUES)
    root = os.path.join(os.environ["POLLUX_CHECKPOINT_DIR"], "keras-backup")
    return given + [backup_class(helper, backup)(root)]


def backup_class(helper, backup):
    class Backup(backup):
        def _load_model(self):
            load(self, super()._load_model)

        def _save_model(self):
            save(self, super()._save_model)

    load = helper.guard("resume.load", load_newest)
    save = helper.guard("resume.backup", save_whole)
    return Backup


def put_into(callback, directory):
    """Has BackupAndRestore read and write in this directory."""
    callback._weights_path = os.path.join(directory, "latest.weights.h5")
    callback._training_metadata_path = os.path.join(directory, "training_metadata.json")


def backups(root):
    """Complete backups, the newest one last."""
    names = os.listdir(root) if os.path.isdir(root) else []
    return [os.path.join(root, n) for n in sorted((n for n in names if n.isdigit()), key=int)]


def save_whole(callback, save):
    root = callback.backup_dir
    earlier = backups(root)
    number = int(os.path.basename(earlier[-1])) + 1 if earlier else 1
    new = os.path.join(root, "new")
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(new)
    put_into(callback, new)
    save()
    with open(os.path.join(new, "random"), "wb") as file:
        pickle.dump(random_numbers.state(), file)
    os.rename(new, os.path.join(root, str(number)))
    for directory in earlier:
        shutil.rmtree(directory, ignore_errors=True)


def load_newest(callback, load):
    found = backups(callback.backup_dir)
    if not found:
        return
    put_into(callback, found[-1])
    load()
    with open(os.path.join(found[-1], "random"), "rb") as file:
        random_numbers.restore(pickle.load(file))
