/* test_checkpoints_beside.c - files that are one checkpoint together, and files that tell about a
 * checkpoint beside them; JSON, which is the one or the other. */
#include "checkpoint_tree.h"

/* Small files that programs write beside a checkpoint, before or after it. */
static void test_companions(void)
{
	static const char *const companions[] = {
		"ckpt-200.pt.sha256", "ckpt-200.pt.md5", "ckpt-200.md5sum", "ckpt-200.json",
		"ckpt-200.pt.json", "ckpt-200.done", "ckpt-200.pt.ok", "ckpt-200.pt.meta",
		"ckpt-200.size", "ckpt-200.txt", "ckpt-200_meta.json", "ckpt-200-metrics.json",
		"ckpt-200.complete", "ckpt-200.pt.sig",
	};

	for (size_t i = 0; i < sizeof(companions) / sizeof(companions[0]); i++) {
		char *text = xasprintf("%s beside a checkpoint is no checkpoint", companions[i]);
		autofree char *next = xstrdup(companions[i]);

		fresh();
		put("ckpt-100.pt", 1000);
		put("ckpt-200.pt", 1000);
		put(companions[i], 50);
		newest("ckpt-200.pt", text);
		next[5] = '3';
		put(next, 50);
		newest("ckpt-200.pt",
		       "a companion is no checkpoint before its checkpoint is there");
		free(text);
	}
	fresh();
	put("checkpoint-5/model.bin", 10);
	put_text("checkpoint-5.done", "1");
	newest("checkpoint-5", "a companion beside a directory is no checkpoint");
	fresh();
	put("ckpt.pt.bak", 10);
	put("ckpt.pt", 0);
	newest("ckpt.pt.bak", "a copy that ends in .bak is a checkpoint, no companion");
	fresh();
	put_text("model_9.json", "{}");
	put_text("model_10.json", "{}");
	newest("model_10.json", "a JSON file without a checkpoint beside it is a checkpoint");
	fresh();
	put("ckpt-200.pt", 10);
	put_text("latest_checkpoint.json", "{\"path\": \"/old/place/ckpt-200.pt\"}");
	newest("ckpt-200.pt", "a JSON file that names a checkpoint is no checkpoint");
}

static void left_out(const char *want, const char *why, const char *name)
{
	struct checkpoint_query q = { .since_s = -INFINITY, .directory = root };
	scoped(checkpoints_release) struct checkpoints found = { 0 };

	checkpoints_find(&q, &found);
	is_str(found.left_out ? base_name(found.left_out) : "none", want, name);
	is_str(found.why ? found.why : "", why, "the reason is told");
}

static void test_json(void)
{
	static const char *const states[] = {
		"ck-40.json", "ck.json", "state.json", "run/40.json", "weights.json", "a b.JSON",
	};
	static const char *const told[] = {
		"config.json", "metrics-40.json", "args.json", "vocab.json", "eval_results.json",
		"generation_config.json", "history.json",
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		char *text = xasprintf("%s alone is a checkpoint", states[i]);

		fresh();
		put_text(states[i], "{\"step\": 40}");
		newest(states[i], text);
		put("weights.bin", 100);
		put_text(states[i], "{\"step\": 41}");
		newest("weights.bin", "JSON beside the file of a model is no checkpoint");
		free(text);
	}
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		char *text = xasprintf("%s tells about the training", told[i]);

		fresh();
		put_text(told[i], "{}");
		newest("none", text);
		left_out(told[i], "its name is not one of a checkpoint", text);
		free(text);
	}
	fresh();
	put_text("ck-100.json", "{\"step\": 100}");
	put_text("ck-20.json", "{\"step\": 20}");
	put_text("config.json", "{}");
	newest("ck-100.json", "the JSON file with the largest number is newest");
	put_text("latest.json", "{\"path\": \"ck-20.json\"}");
	newest("ck-100.json", "JSON that names a JSON file is no checkpoint");
	put_text("ck-120.json", "{\"former\": \"ck-100.json\"}");
	newest("ck-120.json", "a JSON checkpoint may name the one before it");
	put_text("ck-140.json", "{\"step\": 1");
	newest("ck-120.json", "a torn JSON checkpoint is passed over");
	left_out("ck-140.json", "its JSON has no end", "a torn JSON checkpoint is told");
	put("ck-160.pt", 0);
	newest("none", "JSON is no checkpoint beside one that is empty");
	left_out("ck-160.pt", "it is empty", "an empty checkpoint is told, not JSON beside it");
	fresh();
	put("ck-20.dat", 10);
	left_out("ck-20.dat", "its name is not one of a checkpoint", "a file of any name is told");
	put("ck-40.json.tmp", 10);
	left_out("ck-40.json.tmp", "its name says that it is unfinished",
		 "an unfinished file is told");
}

/* JSON of n more bytes behind its end. */
static void put_json(const char *name, const char *json, char more, size_t n)
{
	size_t length = strlen(json);
	autofree char *bytes = xcalloc(length + n + 1, 1);

	strcpy(bytes, json);
	memset(bytes + length, more, n);
	put_bytes(name, bytes, length + n);
}

static void test_ends_of_json(void)
{
	static const size_t lengths[] = {
		0, 1, 3, 63, 64, 65, 1000, 4083, 4084, 4085, 4096, 8192, 100000,
	};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t n = lengths[i];
		autofree char *text = xasprintf("JSON with %zu blanks behind it is whole", n);

		fresh();
		put_json("ckpt-1.json", "{\"step\": 1}", ' ', 0);
		put_json("ckpt-2.json", "{\"step\": 2}", "\n\t\r "[i % 4], n);
		newest("ckpt-2.json", text);
		put_json("ckpt-3.json", "{\"step\": 3", ' ', n);
		newest("ckpt-2.json", "JSON without its end is torn, however many blanks it has");
		put_json("ckpt-3.json", "[{\"step\": 3}", ' ', n);
		newest("ckpt-2.json", "a list without its end is torn");
		put_json("ckpt-3.json", "{\"step\": 3}", '\0', n + 1);
		newest("ckpt-2.json", "JSON with zeros behind it is torn");
		put_json("ckpt-3.json", "", '\0', n + 1);
		newest("ckpt-2.json", "JSON of zeros is torn");
		put_json("ckpt-3.json", " \n[{\"step\": 3}]", '\n', n);
		newest("ckpt-3.json", "JSON may begin with blanks");
		put_json("ckpt-4.json", " \n[{\"step\": 3}", '\n', n);
		newest("ckpt-3.json", "JSON that begins with blanks may be torn");
	}
}

static void test_ranks(void)
{
	struct checkpoint_query vary = { .since_s = -INFINITY, .ranks_vary = true };

	fresh();
	put("ckpt_100_rank_0.pt", 10);
	put("ckpt_100_rank_1.pt", 10);
	put("ckpt_200_rank_0.pt", 10);
	newest("ckpt_100_rank_1.pt", "a file of one rank of two is no checkpoint");
	newest_by(&vary, "ckpt_200_rank_0.pt",
		  "a file of one rank counts where numbers of ranks vary");
	put("ckpt_200_rank_1.pt", 0);
	newest("ckpt_100_rank_1.pt", "files of two ranks do not count if one is empty");
	put("ckpt_200_rank_1.pt", 10);
	newest("ckpt_200_rank_1.pt", "files of all ranks are a checkpoint");
	fresh();
	put("rank0/step_100.pt", 10);
	put("rank1/step_100.pt", 10);
	put("rank1/step_200.pt", 10);
	newest("rank1/step_100.pt", "a directory for each rank does not count without all ranks");
	fresh();
	put("step_100/rank_0.pt", 10);
	put("step_100/rank_1.pt", 10);
	put("step_200/rank_0.pt", 10);
	newest("step_100", "a directory without the files of all ranks is not whole");
	newest_by(&vary, "step_200", "a directory of one rank counts where numbers of ranks vary");
	put("step_200/rank_1.pt", 0);
	newest("step_100", "a directory with an empty file of a rank is not whole");
	newest_by(&vary, "step_100",
		  "an empty file of a rank spoils a directory though ranks vary");
	put("step_200/rank_1.pt", 10);
	newest("step_200", "a directory with the files of all ranks is whole");
}

int main(void)
{
	autofree char *remove = NULL;

	if (!mkdtemp(top))
		return 1;
	test_companions();
	test_json();
	test_ends_of_json();
	test_ranks();
	remove = xasprintf("rm -r %s", top);
	ok(system(remove) == 0, "the test removes its directory");
	free(root);
	return done();
}
