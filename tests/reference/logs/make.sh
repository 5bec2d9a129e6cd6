#!/bin/bash
# make.sh PYTHON: runs programs/ with real packages and writes their logs here, as a job's log has
# them: standard output and error together, into a pipe; NAME.pty.log: into a terminal.
set -u
python=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
export OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1 PYTHONUNBUFFERED=1
export PYTHONWARNINGS=ignore TERM=xterm YOLO_CONFIG_DIR=$work/yolo
log() { # log NAME PROGRAM ARGUMENT...: in a directory of its own, or $dir
	cd "${dir:=$(mktemp -d "$work/XXXX")}" || exit 1
	"$python" "$here/programs/$2" "${@:3}" 2>&1 | cat >"$here/$1.log"
	dir=
}
pty() {
	cd "$(mktemp -d "$work/XXXX")" || exit 1
	script -qfec "stty cols 100; $python $here/programs/$2 ${*:3}" /dev/null </dev/null \
		>"$here/$1.log" 2>&1
}
dir=
log tqdm_nested tqdm_nested.py
log tqdm_plain_nested tqdm_plain_nested.py
log quickstart tutorial_quickstart.py
log cifar tutorial_cifar.py
log dicts dicts.py
log xgboost xgboost_train.py
log lightgbm lightgbm_train.py
log keras_bar keras_fit.py 1 4
k=$(mktemp -d "$work/XXXX")
dir=$k STOP_AFTER=3 log keras_v2_stopped keras_fit.py 2 8 bk
dir=$k log keras_v2_resumed keras_fit.py 2 8 bk
k=$(mktemp -d "$work/XXXX")
dir=$k STOP_AFTER=3 log keras_bar_stopped keras_fit.py 1 4 bk
dir=$k log keras_bar_resumed keras_fit.py 1 4 bk
l=$(mktemp -d "$work/XXXX")
dir=$l log lightning_tqdm lightning_fit.py 2 tqdm
dir=$l log lightning_tqdm_resumed lightning_fit.py 4 tqdm
log lightning_rich_pipe lightning_fit.py 2 rich
pty lightning_rich.pty lightning_fit.py 3 rich
h=$(mktemp -d "$work/XXXX")
hf="--num_train_epochs 3 --per_device_train_batch_size 8 --logging_steps 25 --eval_strategy epoch
	--save_steps 100 --report_to none"
# shellcheck disable=SC2086  # words
dir=$h log hf hf_trainer.py --output_dir o $hf --do_eval 1
# shellcheck disable=SC2086
dir=$h log hf_resumed hf_trainer.py --output_dir o $hf --resume_from_checkpoint o/checkpoint-200
log fastai fastai_fit.py
log sb3_ppo sb3_ppo.py
log hydra hydra_run.py -m +lr=0.01,0.02,0.03
log sklearn_mlp sklearn_mlp.py
log optax_epochs optax_epochs.py
log accelerate accelerate_loop.py
log sklearn_boosting sklearn_boosting.py
log sklearn_forest sklearn_forest.py
pty rich_track.pty rich_track.py
log skorch skorch_fit.py
log tqdm_turns tqdm_turns.py
log ultralytics ultralytics_train.py
rm -rf "$work"
