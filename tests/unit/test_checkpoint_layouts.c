/* test_checkpoint_layouts.c - how frameworks and programs name what they save, and which file or
 * directory of it is the newest checkpoint. */
#include "checkpoint_tree.h"

/* Files in the order in which they are written, each of 100 bytes, or as many as follow ":". */
struct layout {
	const char *name, *newest, *files;
};

static const struct layout frameworks[] = {
	{ "fairseq", "checkpoint_last.pt",
	  "checkpoint11.pt checkpoint_1_5000.pt checkpoint12.pt checkpoint_best.pt "
	  "checkpoint_last.pt" },
	{ "OpenMMLab", "epoch_10.pth", "epoch_9.pth best_bbox_mAP_epoch_9.pth epoch_10.pth" },
	{ "Ultralytics", "weights/last.pt", "weights/epoch1.pt weights/best.pt weights/last.pt" },
	{ "Lightning", "last.ckpt", "epoch=3-step=400.ckpt last.ckpt" },
	{ "Lightning, a name in use", "epoch=3-step=400-v1.ckpt",
	  "epoch=3-step=300.ckpt epoch=3-step=400.ckpt epoch=3-step=400-v1.ckpt" },
	{ "Lightning, a name in use beside epochs", "epoch=2.ckpt",
	  "epoch=1.ckpt last-v1.ckpt epoch=2.ckpt" },
	{ "Lightning with DeepSpeed", "last.ckpt",
	  "last.ckpt/checkpoint/mp_rank_00_model_states.pt last.ckpt/latest" },
	{ "Hugging Face, a last one", "checkpoint-last",
	  "checkpoint-last/config.json checkpoint-last/pytorch_model.bin" },
	{ "a directory of best ones", "ckpt_best/epoch=3.ckpt",
	  "ckpt_best/epoch=3.ckpt ckpt_best/epoch=2.ckpt" },
	{ "spaCy", "model-last", "model-best/config.cfg model-best/ner/model "
	  "model-last/config.cfg model-last/ner/model" },
	{ "NeMo", "gpt--loss=4.5-step=200-consumed_samples=1600.0.ckpt",
	  "gpt--loss=5.0-step=100-consumed_samples=800.0.ckpt "
	  "gpt--loss=4.5-step=200-consumed_samples=1600.0.ckpt" },
	{ "NeMo, while it saves", "gpt--step=100",
	  "gpt--step=100/.metadata gpt--step=100/__0_0.distcp gpt--step=200-unfinished:0 "
	  "gpt--step=200/.metadata gpt--step=200/__0_0.distcp" },
	{ "PaddlePaddle", "epoch_10.pdparams",
	  "epoch_9.pdparams epoch_9.pdopt epoch_10.pdparams epoch_10.pdopt epoch_10.pdstates" },
	{ "TensorFlow", "ckpt-10.index", "ckpt-9.data-00000-of-00001 ckpt-9.index "
	  "ckpt-10.data-00000-of-00001 ckpt-10.index" },
	{ "TensorFlow, before the index", "ckpt-9.index",
	  "ckpt-9.data-00000-of-00001 ckpt-9.index ckpt-10.data-00000-of-00001" },
	{ "TensorFlow, before the first index", "none", "ckpt-1.data-00000-of-00001" },
	{ "Stable-Baselines", "rl_model_200_steps.zip",
	  "rl_model_100_steps.zip rl_model_replay_buffer_100_steps.pkl rl_model_200_steps.zip "
	  "rl_model_replay_buffer_200_steps.pkl rl_model_vecnormalize_200_steps.pkl" },
	{ "Coqui", "checkpoint_20000.pth",
	  "checkpoint_10000.pth best_model_19000.pth checkpoint_20000.pth" },
	{ "burn", "model-3.mpk",
	  "model-2.mpk optim-2.mpk scheduler-2.mpk model-3.mpk optim-3.mpk scheduler-3.mpk" },
	{ "timm", "last.pth.tar", "checkpoint-12.pth.tar model_best.pth.tar last.pth.tar" },
	{ "XGBoost", "model_10.ubj", "model_10.ubj model_9.ubj" },
	{ "LightGBM", "model.txt.snapshot_iter_100",
	  "model.txt.snapshot_iter_90 model.txt.snapshot_iter_100" },
	{ "Caffe", "net_iter_1000.solverstate", "net_iter_900.solverstate net_iter_1000.caffemodel "
	  "net_iter_1000.solverstate" },
	{ "llama.cpp", "checkpoint-250.gguf", "checkpoint-250.gguf checkpoint-200.gguf" },
	{ "flax", "checkpoint_1000", "checkpoint_1000 checkpoint_900" },
};

/* Files of one save: one of them alone is not whole if those before have all. */
static const struct layout saves[] = {
	{ "a model and its optimizer", "model_200.pt",
	  "model_100.pt optim_100.pt model_200.pt optim_200.pt" },
	{ "the name of a checkpoint for both", "ckpt-200.pt",
	  "ckpt-100.pt ckpt-100.optim.pt ckpt-200.pt ckpt-200.optim.pt" },
	{ "averaged weights beside", "epoch_3.pth",
	  "epoch_2.pth epoch_2_ema.pth epoch_3.pth epoch_3_ema.pth" },
	{ "no optimizer yet", "model_100.pt", "model_100.pt optim_100.pt model_200.pt" },
	{ "no model yet", "model_100.pt", "optim_100.pt model_100.pt optim_200.pt" },
	{ "an empty optimizer", "model_100.pt",
	  "model_100.pt optim_100.pt model_200.pt optim_200.pt:0" },
	{ "an optimizer of too few bytes", "model_100.pt",
	  "model_100.pt optim_100.pt model_200.pt optim_200.pt:1" },
	{ "one of two shards", "s100-00002-of-00002.safetensors",
	  "s100-00001-of-00002.safetensors s100-00002-of-00002.safetensors "
	  "s200-00001-of-00002.safetensors" },
	{ "the last optimizer alone is kept", "model_300.pt",
	  "model_100.pt model_200.pt optim_200.pt model_300.pt optim_300.pt" },
	{ "an optimizer now and then", "model_300.pt",
	  "model_100.pt model_200.pt optim_200.pt model_300.pt" },
	{ "a best one now and then", "ckpt_epoch_4.pt",
	  "ckpt_epoch_2.pt best_epoch_2.pt ckpt_epoch_3.pt best_epoch_3.pt ckpt_epoch_4.pt" },
};

static const struct layout numbers[] = {
	{ "Keras, a metric before the epoch", "weights.0.5-10.keras",
	  "weights.0.5-10.keras weights.0.45-09.keras" },
	{ "a metric alone", "model_0.9.pt", "model_0.85.pt model_0.9.pt" },
	{ "a worse metric later", "model_0.85.pt", "model_0.9.pt model_0.85.pt" },
	{ "a metric of any name", "kappa0.85.pt", "kappa0.9.pt kappa0.85.pt" },
	{ "fractions of epochs", "epoch=1.5.pt", "epoch=1.5.pt epoch=1.25.pt" },
	{ "epochs as fractions", "epoch_10.0.pt", "epoch_10.0.pt epoch_9.5.pt" },
	{ "dates with dots", "ckpt-2026.10.15.pt", "ckpt-2026.10.15.pt ckpt-2026.9.30.pt" },
	{ "a number before a date", "r1_2026-02-01_00-00-02.pt",
	  "r1_2026-02-01_00-00-02.pt r1_2026-02-01_00-00-01.pt" },
	{ "directories of a parameter", "lr0.01/epoch=3.ckpt",
	  "lr0.1/epoch=9.ckpt lr0.01/epoch=3.ckpt" },
	{ "directories of seeds", "seed2/epoch=3.ckpt", "seed1/epoch=9.ckpt seed2/epoch=3.ckpt" },
	{ "runs", "run2-epoch1.pt", "run1-epoch9.pt run2-epoch1.pt" },
	{ "stages", "stage2_epoch1.pth", "stage1_epoch9.pth stage2_epoch1.pth" },
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
	newest("ckpt-1.pt", "a file of zeros, where the former one begins otherwise");
	fresh();
	put_bytes("ckpt-1.pt", zeros, sizeof(zeros));
	put_bytes("ckpt-2.pt", zeros, sizeof(zeros));
	newest("ckpt-2.pt", "zeros may be what a program saves");
	fresh();
	put("checkpoint-5/model.safetensors", 200);
	put_text("checkpoint-5/trainer_state.json", "{}");
	put_bytes("checkpoint-6/model.safetensors", zeros, sizeof(zeros));
	put_text("checkpoint-6/trainer_state.json", "{}");
	newest("checkpoint-5", "a file of zeros in a directory that has its marker");
}

int main(void)
{
	char *remove;

	if (!mkdtemp(top))
		return 1;
	test_layouts(frameworks, sizeof(frameworks) / sizeof(frameworks[0]));
	test_layouts(saves, sizeof(saves) / sizeof(saves[0]));
	test_layouts(numbers, sizeof(numbers) / sizeof(numbers[0]));
	test_loss_of_power();
	remove = xasprintf("rm -r %s", top);
	ok(system(remove) == 0, "removed");
	free(remove);
	free(root);
	return done();
}
