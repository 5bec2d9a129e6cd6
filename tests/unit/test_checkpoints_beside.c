/* test_checkpoints_beside.c - files that are one checkpoint together, and files that tell about a
 * checkpoint beside them. */
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
		char *next = xstrdup(companions[i]);

		fresh();
		put("ckpt-100.pt", 1000);
		put("ckpt-200.pt", 1000);
		put(companions[i], 50);
		newest("ckpt-200.pt", text);
		next[5] = '3';
		put(next, 50);
		newest("ckpt-200.pt",
		       "a companion is no checkpoint before its checkpoint is there");
		free(next);
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
	char *remove;

	if (!mkdtemp(top))
		return 1;
	test_companions();
	test_ranks();
	remove = xasprintf("rm -r %s", top);
	ok(system(remove) == 0, "the test removes its directory");
	free(remove);
	free(root);
	return done();
}
