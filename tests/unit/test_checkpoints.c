/* test_checkpoints.c - which file or directory is the newest checkpoint, and what is none. */
#include "checkpoint_tree.h"

static void test_temporary_names(void)
{
	static const char *const temporary[] = {
		"ckpt-200.pt.tmp.4711", "ckpt-200.pt.tmp", "ckpt-200.pt.tmp_abc",
		"ckpt-200.pt.part",
		"ckpt-200.pt.part.1", "ckpt-200.pt.partial", "ckpt-200.pt~", "ckpt-200.pt.temp",
		"ckpt-200.pt.temp.99", "ckpt-200.pt.lock", ".ckpt-200.pt", ".ckpt-200.pt.Xa81f",
		"ckpt-200.pt.incomplete", "ckpt-200.pt.crdownload", "ckpt-200.pt.writing",
		"ckpt-200.pt.inprogress", "ckpt-200.pt.in_progress", "ckpt-200_tmp.pt",
		"ckpt_tmp-200.pt", "tmp-ckpt-200.pt", "tmpab12cd_x.pt", "ckpt-200.pt.swp",
		"ckpt-200.pt.tmpX3fG", "temp_ckpt-200.pt", "ckpt-200-temp.pt", "ckpt-200.pt.new",
		"ckpt-200Tmp.pt", "ckpt-200.unfinished.pt", "ckpt-200.pt.saving",
		"200.orbax-checkpoint-tmp-17", "#ckpt-200.pt#", "ckpt-200.pt.filepart",
		"ckpt-200.partial.pt", "partial-ckpt-200.pt", "ckpt-200.pt_.gstmp",
		"ckpt-200.pt.TMP",
		"_tmp_ckpt-200.pt", "tmp.ckpt-200.pt", "ckpt-200.pt.4711.tmp", "tmp",
		"ckpt-200.pt.corrupt", "ckpt-200.bad.pt", "ckpt-200.pt.failed", "ckpt-200.pt.dirty",
		"ckpt-200.pt.pending", "ckpt-200.pt.deleted", "ckpt-200.pt.broken",
	};
	static const char *const finished[] = {
		"attempt1.pt", "template.ckpt", "particle.pt", "tmpl-200.pt", "tmpl_models.pt",
		"contemporary-2.pt", "party-7.ckpt", "temperature0.7.pt", "temp-0.7-ckpt.pt",
		"temp0.7.pt", "block-3.pt", "clock.pt", "renewal-9.pt", "news.ckpt", "new_model.pt",
		"model-part-2.pt", "ckpt_part1.pt", "impartial.pt", "department-4.pt",
		"ckpt-200.pt",
		"rewriting.pt", "progressive-gan-200.pt", "lockstep-2.pt", "unlocked.pt",
		"deadlock-ckpt.pt", "saving-nature.pt.zip.h5", "apartment.h5", "model-newest.pt",
		"trash-net-3.pt", "bad_words.ckpt", "dirty-mnist.pt", "failed-parts-2.pt",
	};
	size_t n = sizeof(temporary) / sizeof(temporary[0]);
	char *text;

	for (size_t i = 0; i < n; i++) {
		text = xasprintf("%s is not finished and does not count", temporary[i]);
		fresh();
		put("ckpt-100.pt", 100);
		put(temporary[i], 100);
		newest("ckpt-100.pt", text);
		free(text);
	}
	for (size_t i = 0; i < sizeof(finished) / sizeof(finished[0]); i++) {
		text = xasprintf("%s is finished and counts", finished[i]);
		fresh();
		put("zz.ckpt", 100);
		put(finished[i], 100);
		newest(finished[i], text);
		free(text);
	}
	fresh();
	put("ckpt-100.pt", 100);
	put("tmp-checkpoint-200/model.pt", 100);
	newest("ckpt-100.pt", "a directory with a temporary name hides the files in it");
	put("tmp/ckpt-300.pt", 100);
	newest("ckpt-100.pt", "a directory named tmp hides the files in it");
	put("trash/ckpt-300.pt", 100);
	newest("ckpt-100.pt", "a directory named trash hides the files in it");
}

static void test_order(void)
{
	static const struct {
		const char *newer, *older;	/* the older is written later */
	} pairs[] = {
		{ "ckpt-1000.pt", "ckpt-900.pt" },
		{ "checkpoint-1000/model.safetensors", "checkpoint-900/model.safetensors" },
		{ "epoch=9-step=90.ckpt", "epoch=8-step=80.ckpt" },
		{ "epoch=10-step=5.ckpt", "epoch=9-step=90.ckpt" },
		{ "epoch=3-step=1200.ckpt", "epoch=3-step=900.ckpt" },
		{ "step=1200-epoch=3.ckpt", "step=9000-epoch=2.ckpt" },
		{ "step_000100.pt", "step_000099.pt" },
		{ "ckpt_ep10.pth", "ckpt_ep9.pth" },
		{ "model.10.h5", "model.9.h5" },
		{ "epoch=9-val_loss=0.31.ckpt", "epoch=8-val_loss=0.45.ckpt" },
		{ "val_loss=0.31-epoch=9.ckpt", "val_loss=0.45-epoch=8.ckpt" },
		{ "rl_model_100000_steps.zip", "rl_model_50000_steps.zip" },
		{ "ckpt-10k.pt", "ckpt-900.pt" },
		{ "ckpt_20260102_000001.pt", "ckpt_20260101_235959.pt" },
		{ "iter_0000100/model.bin", "iter_0000099/model.bin" },
		{ "100/model.pt", "20/model.pt" },
		{ "ckpt.ep10", "ckpt.ep9" },
		{ "ep1-ba100-rank0.pt", "ep1-ba90-rank0.pt" },
		{ "model_resnet50_epoch_10.pth", "model_resnet50_epoch_9.pth" },
		{ "weights-18446744073709551614.pt", "weights-1.pt" },
		{ "state-7", "state-6" },
		{ "model_10.json", "model_9.json" },
		{ "snapshot_iter_1000.caffemodel", "snapshot_iter_999.caffemodel" },
		{ "lr1e-4_step20.pt", "lr1e-4_step3.pt" },
		{ "ckpt-1e6.pt", "ckpt-9e5.pt" },
		{ "a/epoch_2/last.pt", "a/epoch_1/last.pt" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char *text = xasprintf("%s is newer than %s", pairs[i].newer, pairs[i].older);
		struct checkpoint_query q = { .since_s = -INFINITY };
		scoped(checkpoints_release) struct checkpoints found = { 0 };
		autofree char *want = NULL;

		fresh();
		put(pairs[i].newer, 100);
		put(pairs[i].older, 100);
		want = path_of(pairs[i].newer);
		q.directory = root;
		checkpoints_find(&q, &found);
		ok(found.newest && !strncmp(want, found.newest, strlen(found.newest)), text);
		free(text);
	}
	fresh();
	put("last.ckpt", 100);
	put("best.pt", 100);
	newest("best.pt", "the last written file is newest where names differ otherwise");
	put("last.ckpt", 100);
	newest("last.ckpt", "a file that is written again becomes the newest");
	fresh();
	put("b.pt", 100);
	now_s--;
	put("a.pt", 100);
	newest("b.pt", "files of equal times are ordered by their names");
	fresh();
	put("ckpt-loss=0.45.pt", 100);
	put("ckpt-loss=0.31.pt", 100);
	newest("ckpt-loss=0.31.pt", "a metric in the name gives no order");
	fresh();
	put("version_0/checkpoints/epoch=5.ckpt", 100);
	put("version_1/checkpoints/epoch=0.ckpt", 100);
	newest("version_1/checkpoints/epoch=0.ckpt",
	       "the last written file is newest across directories");
}

static void test_torn_files(void)
{
	static const unsigned char zip[] = "PK\3\4 some bytes of an archive PK\5\6"
					   "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	static const unsigned char hdf5[] = "\x89HDF\r\n\x1a\n\3\10\10\0\0\0\0\0\0\0\0\0"
					    "\377\377\377\377\377\377\377\377\60\0\0\0\0\0\0\0"
					    "\0\0\0\0\0\0\0\0\0\0\0\0";
	static const char tensors[] = "\x48\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F32\",\"shape\":[2],"
				      "\"data_offsets\":[0,8]}}                  12345678";
	static const char npy[] = "\x93NUMPY\1\0\x46\0{'descr': '<f8', 'fortran_order': False, "
				  "'shape': (2,), }            \n1234567812345678";
	static const char pickle[] = "\200\4K\1.";
	static const struct {
		const char *stem, *end, *what;
		const void *bytes;
		size_t n, torn;
	} kinds[] = {
		{ "ckpt-", ".pt", "an archive of torch.save", zip, sizeof(zip) - 1, 30 },
		{ "epoch=", ".ckpt",
		  "an archive of Lightning", zip, sizeof(zip) - 1, sizeof(zip) - 2 },
		{ "m-", ".keras", "an archive of Keras", zip, sizeof(zip) - 1, 25 },
		{ "m-", ".h5", "a file of HDF5", hdf5, sizeof(hdf5) - 1, 40 },
		{ "m-", ".safetensors", "a file of safetensors", tensors, sizeof(tensors) - 1,
		  sizeof(tensors) - 2 },
		{ "m-", ".safetensors",
		  "a file of safetensors, cut in its header", tensors, sizeof(tensors) - 1,
		  20 },
		{ "weights-", ".npy", "a file of npy", npy, sizeof(npy) - 1, sizeof(npy) - 2 },
		{ "model-", ".pkl", "a pickle", pickle, sizeof(pickle) - 1, sizeof(pickle) - 2 },
		{ "model-", ".json", "a file of JSON", "{\"step\": 12}\n", 13, 9 },
	};
	char *first, *second, *text;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		fresh();
		first = xasprintf("%s1%s", kinds[i].stem, kinds[i].end);
		second = xasprintf("%s2%s", kinds[i].stem, kinds[i].end);
		put_bytes(first, kinds[i].bytes, kinds[i].n);
		put_bytes(second, kinds[i].bytes, kinds[i].torn);
		text = xasprintf("%s that is torn does not count", kinds[i].what);
		newest(first, text);
		free(text);
		put_bytes(second, kinds[i].bytes, kinds[i].n);
		text = xasprintf("%s that is whole counts", kinds[i].what);
		newest(second, text);
		free(text);
		free(first);
		free(second);
	}
	fresh();
	put("ckpt-1.pt", 1000);
	put("ckpt-2.pt", 0);
	newest("ckpt-1.pt", "an empty file is no checkpoint");
	put("ckpt-3.pt", 99);
	newest("ckpt-1.pt", "a file below a tenth of the former one's size is no checkpoint");
	put("ckpt-3.pt", 100);
	newest("ckpt-3.pt", "a file of a tenth of the former one's size is a checkpoint");
	put("other-3.pt", 5);
	newest("other-3.pt", "a file of another shape is not compared by size");
	fresh();
	put("ckpt.pt", 0);
	newest("none", "an empty file alone is no checkpoint");
}

static void test_directories(void)
{
	fresh();
	put("checkpoint-10/model", 10);
	put("checkpoint-10/state", 10);
	put("checkpoint-20/model", 10);
	newest("checkpoint-10", "a directory with fewer files than the former one is not whole");
	put("checkpoint-20/state", 10);
	newest("checkpoint-20", "a directory with as many files as the former one is whole");
	put("checkpoint-20/checkpoint-is-incomplete.txt", 1);
	newest("checkpoint-10", "a directory that says that it is incomplete is not whole");
	put("checkpoint-30/model", 1);
	put("checkpoint-30/state", 1);
	put("checkpoint-10/eval_results.json", 10);
	put("checkpoint-10/more", 10);
	newest("checkpoint-10", "a directory of a tenth of the former one's bytes is not whole");
	fresh();
	put("checkpoint-10/model", 10);
	put("checkpoint-20/model", 10);
	put("checkpoint-10/eval_results.json", 10);
	newest("checkpoint-20", "files that an evaluation adds to an older directory do not count");
	fresh();
	put("checkpoint-7/model", 0);
	newest("none", "a directory of empty files is no checkpoint");
	put("checkpoint-7/model-00001-of-00002.safetensors", 7);
	newest("none", "a directory without all its parts is no checkpoint");
	put("checkpoint-7/model-00002-of-00002.safetensors", 7);
	newest("checkpoint-7", "a directory with all its parts is whole");
	put("checkpoint-7/optimizer.bin.tmp", 7);
	newest("none", "a directory in which a file is being written is not whole");

	fresh();
	put("checkpoint-5/model.safetensors", 10);
	put("checkpoint-5/optimizer.pt", 10);
	newest("none", "a Trainer's directory without trainer_state.json is not whole");
	put_text("checkpoint-5/trainer_state.json", "{}");
	newest("checkpoint-5", "a Trainer's directory with trainer_state.json is whole");
	put("checkpoint-6/model.safetensors", 30);
	put_text("checkpoint-6/trainer_state.json", "{}");
	newest("checkpoint-6", "a directory with trainer_state.json is whole with fewer files");
	put("checkpoint-6/more.json", 30);
	put("checkpoint-7/model.safetensors", 30);
	put("checkpoint-7/other", 30);
	put("checkpoint-7/more", 30);
	newest("checkpoint-6",
	       "a directory without the trainer_state.json of the former is not whole");

	fresh();
	put("mine/__0_0.distcp", 10);
	newest("none", "torch's distributed directory without .metadata is not whole");
	put("mine/.metadata", 10);
	newest("mine", "torch's distributed directory with .metadata is whole");

	fresh();
	put("global_step10/mp_rank_00_model_states.pt", 10);
	newest("none", "DeepSpeed's directory does not count before 'latest' is there");
	put_text("latest", "global_step10");
	newest("global_step10", "DeepSpeed's directory that 'latest' names is newest");
	put("global_step20/mp_rank_00_model_states.pt", 10);
	newest("global_step10", "DeepSpeed's directory after the one in 'latest' does not count");
	put_text("latest", "global_step20\n");
	newest("global_step20", "DeepSpeed's next directory is newest once 'latest' names it");

	fresh();
	put("90/_CHECKPOINT_METADATA", 10);
	put("90/default/_METADATA", 10);
	put("90/commit_success.txt", 10);
	put("100/_CHECKPOINT_METADATA", 10);
	put("100/default/_METADATA", 10);
	put("100/more", 10);
	newest("90", "Orbax' directory without its commit is not whole");
	put("100/commit_success.txt", 10);
	newest("100", "Orbax' directory with its commit is whole");
	put("110.orbax-checkpoint-tmp/_CHECKPOINT_METADATA", 10);
	newest("100", "Orbax' directory that is being written does not count");

	fresh();
	put("random_states_0.pkl", 10);
	put("model.safetensors", 10);
	newest(".", "the directory itself is newest where accelerate saves into it");
	fresh();
	put("iter_0000010/model_optim_rng.pt", 10);
	put_text("latest_checkpointed_iteration.txt", "10");
	put("iter_0000020/model_optim_rng.pt", 10);
	newest("iter_0000010", "Megatron's directory does not count before its file names it");
	fresh();
	put("model_0004999.pth", 10);
	put_text("last_checkpoint", "model_0004999.pth");
	newest("model_0004999.pth", "a file that names a checkpoint is no checkpoint");
}

static double saved_s(struct checkpoint_query *q)
{
	struct checkpoints found;
	double time_s;

	q->directory = root;
	checkpoints_find(q, &found);
	time_s = found.saved_s;
	checkpoints_release(&found);
	return time_s;
}

static void test_candidates(void)
{
	struct checkpoint_query q = { .since_s = clock_wall_s() + 100 };
	struct checkpoint_query own = { .since_s = -INFINITY };
	char *told;

	fresh();
	put("old.ckpt", 10);
	put("README", 10);
	newest_by(&q, "none", "a file that did not change since the first launch does not count");
	ok(isnan(saved_s(&q)), "no time of saving is known without a checkpoint");
	q.since_s = clock_wall_s() - 100;
	newest_by(&q, "old.ckpt", "a changed file counts, although its time was set back");
	fresh();
	put("train.py", 10);
	put("metrics.csv", 10);
	put("notes.md", 10);
	put("core.4711", 10);
	put("__pycache__/checkpoint_utils.cpython-311.pyc", 10);
	put("checkpoint.py", 10);
	put("runs/a/events.out.tfevents.1", 10);
	put("wandb/state", 10);
	put("out.log", 10);
	put("been", 0);
	newest_by(&own, "none", "sources, logs, tables and dumps are no checkpoints");
	ok(isnan(saved_s(&own)), "no time of saving is known beside sources and logs");
	put("weights.bin", 10);
	newest_by(&own, "weights.bin", "a model counts where no file is named a checkpoint");
	ok(isfinite(saved_s(&own)), "the time of saving is known of a model");
	put("runs/a/last.ckpt", 10);
	put("weights.bin", 10);
	newest_by(&own, "runs/a/last.ckpt", "a file with a checkpoint's name comes before a model");
	fresh();
	put("logs/weights.bin", 10);
	put(" runs/notes. txt", 10);
	newest_by(&own, "none", "a model in a directory of logs does not count");
	put("mlruns logs/weights.bin", 10);
	newest_by(&own, "mlruns logs/weights.bin",
		  "a directory of two names of such directories is none of them");

	fresh();
	put("ckpt-200.pt", 10);
	put("ckpt-100.pt", 10);
	own.reported = told = path_of("ckpt-100.pt");
	newest_by(&own, "ckpt-100.pt", "a reported file that was written last is newest");
	put("ckpt-200.pt", 10);
	newest_by(&own, "ckpt-200.pt", "a reported file that was written before is not newest");
	free(told);
	put("odd name", 10);
	own.reported = told = path_of("odd name");
	newest_by(&own, "odd name", "a reported file may have any name");
	free(told);
	own.reported = told = path_of("sub.tmp/x");
	put("sub.tmp/x", 10);
	newest_by(&own, "ckpt-200.pt", "a reported file in an unfinished directory does not count");
	free(told);
	own.reported = NULL;

	fresh();
	put("notes.txt", 10);
	put("ckpt-1.pt.part", 10);
	own.glob = "*.txt";
	newest_by(&own, "notes.txt", "a pattern finds a file of any name");
	own.glob = "*.part";
	newest_by(&own, "ckpt-1.pt.part",
		  "a pattern finds an unfinished file if it names its ending");
	own.glob = "ckpt*";
	newest_by(&own, "none", "a pattern without its ending finds no unfinished file");
	put("empty.txt", 0);
	own.glob = "*.txt";
	newest_by(&own, "notes.txt", "a pattern finds no empty file");
	own.glob = "ru?";
	put("run/x", 10);
	newest_by(&own, "run", "a pattern finds a directory");
	own.glob = NULL;
}

/* Data of 20,000 files, and a checkpoint beside and below. */
static void test_many_files(void)
{
	struct checkpoint_query q = { .since_s = -INFINITY };
	char name[64];
	double begin_s;

	fresh();
	put("data/0/0.dat", 1);
	for (int i = 0; i < 20000; i++) {
		autofree char *path = NULL;

		snprintf(name, sizeof(name), "data/0/%d.dat", i);
		path = path_of(name);
		close(open(path, O_CREAT | O_WRONLY, 0600));
	}
	put("zz/out/last.ckpt", 10);
	begin_s = clock_boot_s();
	newest_by(&q, "zz/out/last.ckpt", "a checkpoint beside 20,000 files is found");
	ok(clock_boot_s() - begin_s < 20, "the search among 20,000 files ends within 20 s");
}

int main(void)
{
	autofree char *remove = NULL;

	if (!mkdtemp(top))
		return 1;
	test_temporary_names();
	test_order();
	test_torn_files();
	test_directories();
	test_candidates();
	test_many_files();
	remove = xasprintf("rm -r %s", top);
	ok(system(remove) == 0, "the test removes its directory");
	free(root);
	return done();
}
