/* test_checkpoint_layouts.c - how frameworks and programs name what they save, and which file or
 * directory of it is the newest checkpoint. */
#include "checkpoint_tree.h"

/* Files in the order in which they are written, each of 100 bytes, or as many as follow ":". */
struct layout {
	const char *name, *newest, *files;
};

static const struct layout frameworks[] = {
	{ "fairseq's last file is newest", "checkpoint_last.pt",
	  "checkpoint11.pt checkpoint_1_5000.pt checkpoint12.pt checkpoint_best.pt "
	  "checkpoint_last.pt" },
	{ "OpenMMLab's file of the highest epoch is newest",
	  "epoch_10.pth", "epoch_9.pth best_bbox_mAP_epoch_9.pth epoch_10.pth" },
	{ "Ultralytics' last file is newest",
	  "weights/last.pt", "weights/epoch1.pt weights/best.pt weights/last.pt" },
	{ "Lightning's last file is newest", "last.ckpt", "epoch=3-step=400.ckpt last.ckpt" },
	{ "Lightning's file with a version is newest", "epoch=3-step=400-v1.ckpt",
	  "epoch=3-step=300.ckpt epoch=3-step=400.ckpt epoch=3-step=400-v1.ckpt" },
	{ "Lightning's highest epoch is newest beside a versioned last file", "epoch=2.ckpt",
	  "epoch=1.ckpt last-v1.ckpt epoch=2.ckpt" },
	{ "Lightning's directory of DeepSpeed is newest", "last.ckpt",
	  "last.ckpt/checkpoint/mp_rank_00_model_states.pt last.ckpt/latest" },
	{ "Hugging Face's directory of the last save is newest", "checkpoint-last",
	  "checkpoint-last/config.json checkpoint-last/pytorch_model.bin" },
	{ "a directory of best files gives its highest epoch", "ckpt_best/epoch=3.ckpt",
	  "ckpt_best/epoch=3.ckpt ckpt_best/epoch=2.ckpt" },
	{ "spaCy's last model is newest",
	  "model-last", "model-best/config.cfg model-best/ner/model "
	  "model-last/config.cfg model-last/ner/model" },
	{ "NeMo's file of the highest step is newest",
	  "gpt--loss=4.5-step=200-consumed_samples=1600.0.ckpt",
	  "gpt--loss=5.0-step=100-consumed_samples=800.0.ckpt "
	  "gpt--loss=4.5-step=200-consumed_samples=1600.0.ckpt" },
	{ "NeMo's directory that is being saved does not count", "gpt--step=100",
	  "gpt--step=100/.metadata gpt--step=100/__0_0.distcp gpt--step=200-unfinished:0 "
	  "gpt--step=200/.metadata gpt--step=200/__0_0.distcp" },
	{ "PaddlePaddle's parameters of the highest epoch are newest", "epoch_10.pdparams",
	  "epoch_9.pdparams epoch_9.pdopt epoch_10.pdparams epoch_10.pdopt epoch_10.pdstates" },
	{ "TensorFlow's index of the highest number is newest",
	  "ckpt-10.index", "ckpt-9.data-00000-of-00001 ckpt-9.index "
	  "ckpt-10.data-00000-of-00001 ckpt-10.index" },
	{ "TensorFlow's data does not count before its index is there", "ckpt-9.index",
	  "ckpt-9.data-00000-of-00001 ckpt-9.index ckpt-10.data-00000-of-00001" },
	{ "TensorFlow has no checkpoint before its first index",
	  "none", "ckpt-1.data-00000-of-00001" },
	{ "Stable-Baselines' model of the most steps is newest", "rl_model_200_steps.zip",
	  "rl_model_100_steps.zip rl_model_replay_buffer_100_steps.pkl rl_model_200_steps.zip "
	  "rl_model_replay_buffer_200_steps.pkl rl_model_vecnormalize_200_steps.pkl" },
	{ "Coqui's file of the highest step is newest", "checkpoint_20000.pth",
	  "checkpoint_10000.pth best_model_19000.pth checkpoint_20000.pth" },
	{ "burn's model of the highest number is newest", "model-3.mpk",
	  "model-2.mpk optim-2.mpk scheduler-2.mpk model-3.mpk optim-3.mpk scheduler-3.mpk" },
	{ "timm's last file is newest",
	  "last.pth.tar", "checkpoint-12.pth.tar model_best.pth.tar last.pth.tar" },
	{ "XGBoost's model of the highest number is newest",
	  "model_10.ubj", "model_10.ubj model_9.ubj" },
	{ "LightGBM's snapshot of the highest iteration is newest", "model.txt.snapshot_iter_100",
	  "model.txt.snapshot_iter_90 model.txt.snapshot_iter_100" },
	{ "Caffe's solver state of the highest iteration is newest",
	  "net_iter_1000.solverstate", "net_iter_900.solverstate net_iter_1000.caffemodel "
	  "net_iter_1000.solverstate" },
	{ "llama.cpp's file of the highest number is newest",
	  "checkpoint-250.gguf", "checkpoint-250.gguf checkpoint-200.gguf" },
	{ "flax' file of the highest number is newest",
	  "checkpoint_1000", "checkpoint_1000 checkpoint_900" },
};

/* Files of one save: one of them alone is not whole if those before have all. */
static const struct layout saves[] = {
	{ "a model counts when its optimizer is there", "model_200.pt",
	  "model_100.pt optim_100.pt model_200.pt optim_200.pt" },
	{ "a checkpoint counts when its optimizer of the same name is there", "ckpt-200.pt",
	  "ckpt-100.pt ckpt-100.optim.pt ckpt-200.pt ckpt-200.optim.pt" },
	{ "a model counts when its averaged weights are there", "epoch_3.pth",
	  "epoch_2.pth epoch_2_ema.pth epoch_3.pth epoch_3_ema.pth" },
	{ "a model does not count before its optimizer is there",
	  "model_100.pt", "model_100.pt optim_100.pt model_200.pt" },
	{ "an optimizer does not count before its model is there",
	  "model_100.pt", "optim_100.pt model_100.pt optim_200.pt" },
	{ "a model with an empty optimizer does not count", "model_100.pt",
	  "model_100.pt optim_100.pt model_200.pt optim_200.pt:0" },
	{ "a model with a torn optimizer does not count", "model_100.pt",
	  "model_100.pt optim_100.pt model_200.pt optim_200.pt:1" },
	{ "one of two shards does not count", "s100-00002-of-00002.safetensors",
	  "s100-00001-of-00002.safetensors s100-00002-of-00002.safetensors "
	  "s200-00001-of-00002.safetensors" },
	{ "a model counts where only the last optimizer is kept", "model_300.pt",
	  "model_100.pt model_200.pt optim_200.pt model_300.pt optim_300.pt" },
	{ "a model counts without the optimizer that comes now and then", "model_300.pt",
	  "model_100.pt model_200.pt optim_200.pt model_300.pt" },
	{ "a file counts without the best file that comes now and then", "ckpt_epoch_4.pt",
	  "ckpt_epoch_2.pt best_epoch_2.pt ckpt_epoch_3.pt best_epoch_3.pt ckpt_epoch_4.pt" },
};

static const struct layout numbers[] = {
	{ "Keras' epoch counts after a metric in the name", "weights.0.5-10.keras",
	  "weights.0.5-10.keras weights.0.45-09.keras" },
	{ "the last written file is newest where names have a metric alone",
	  "model_0.9.pt", "model_0.85.pt model_0.9.pt" },
	{ "a file with a worse metric is newest if it was written later",
	  "model_0.85.pt", "model_0.9.pt model_0.85.pt" },
	{ "a metric of any name gives no order", "kappa0.85.pt", "kappa0.9.pt kappa0.85.pt" },
	{ "fractions of epochs count as decimal numbers",
	  "epoch=1.5.pt", "epoch=1.5.pt epoch=1.25.pt" },
	{ "epochs with a decimal point count as numbers",
	  "epoch_10.0.pt", "epoch_10.0.pt epoch_9.5.pt" },
	{ "dates with dots count as dates",
	  "ckpt-2026.10.15.pt", "ckpt-2026.10.15.pt ckpt-2026.9.30.pt" },
	{ "a date counts after a number in the name", "r1_2026-02-01_00-00-02.pt",
	  "r1_2026-02-01_00-00-02.pt r1_2026-02-01_00-00-01.pt" },
	{ "directories of a parameter give no order", "lr0.01/epoch=3.ckpt",
	  "lr0.1/epoch=9.ckpt lr0.01/epoch=3.ckpt" },
	{ "directories of seeds give no order",
	  "seed2/epoch=3.ckpt", "seed1/epoch=9.ckpt seed2/epoch=3.ckpt" },
	{ "the run comes before the epoch in the order of names",
	  "run2-epoch1.pt", "run1-epoch9.pt run2-epoch1.pt" },
	{ "the stage comes before the epoch in the order of names",
	  "stage2_epoch1.pth", "stage1_epoch9.pth stage2_epoch1.pth" },
};

static void put_files(const char *files)
{
	char *copy = xstrdup(files), *save = NULL;

	for (char *name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
		char *bytes = strchr(name, ':');

		if (bytes)
			*bytes++ = '\0';
		if (strstr(name, ".json"))
			put_text(name, "{}");
		else
			put(name, bytes ? strtoul(bytes, NULL, 10) : 100);
	}
	free(copy);
}

static void test_layouts(const struct layout *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fresh();
		put_files(list[i].files);
		newest(list[i].newest, list[i].name);
	}
}

/* A loss of power leaves files that were never written, although their names are there. */
static void test_loss_of_power(void)
{
	static const char zeros[200];

	fresh();
	put("ckpt-1.pt", 200);
	put_bytes("ckpt-2.pt", zeros, sizeof(zeros));
	newest("ckpt-1.pt", "a file of zeros does not count after one that begins otherwise");
	fresh();
	put_bytes("ckpt-1.pt", zeros, sizeof(zeros));
	put_bytes("ckpt-2.pt", zeros, sizeof(zeros));
	newest("ckpt-2.pt", "a file of zeros counts if the former one is of zeros, too");
	fresh();
	put("checkpoint-5/model.safetensors", 200);
	put_text("checkpoint-5/trainer_state.json", "{}");
	put_bytes("checkpoint-6/model.safetensors", zeros, sizeof(zeros));
	put_text("checkpoint-6/trainer_state.json", "{}");
	newest("checkpoint-5",
	       "a file of zeros does not count although its directory has a marker");
}

int main(void)
{
	autofree char *remove = NULL;

	if (!mkdtemp(top))
		return 1;
	test_layouts(frameworks, sizeof(frameworks) / sizeof(frameworks[0]));
	test_layouts(saves, sizeof(saves) / sizeof(saves[0]));
	test_layouts(numbers, sizeof(numbers) / sizeof(numbers[0]));
	test_loss_of_power();
	remove = xasprintf("rm -r %s", top);
	ok(system(remove) == 0, "the test removes its directory");
	free(root);
	return done();
}
