/* test_template.c - {names} in a command, expanded at launch; all other braces stay. */
#include "pollux/mem.h"
#include "pollux/submission.h"
#include "pollux/template.h"
#include "pollux/text.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Values that tell each name from every other. */
static const struct template_values first_launch = {
	.facts = {
		.has_batch_size = true, .has_learning_rate = true, .has_resume_args = true,
	},
	.job_id = 17, .run_number = 1,
	.configuration = { .replicas = 3, .accumulation_steps = 4, .local_batch_size = 128 },
	.learning_rate = 0.1, .learning_rate_scale = 2.5,
	.samples = (double)NAN, .checkpoint_dir = "/ckpt dir", .port = 29501,
};

/* Arguments separated by '|'. */
static void split(const char *text, struct strings *list)
{
	char *copy = strdup(text), *p = copy;

	for (char *bar; (bar = strchr(p, '|')); p = bar + 1) {
		*bar = '\0';
		strings_add(list, p);
	}
	strings_add(list, p);
	free(copy);
}

static void expands(const char *argv_text, const struct template_values *values, const char *want)
{
	scoped(strings_release) struct strings argv = { 0 }, got = { 0 };
	scoped(text_release) struct text joined = TEXT_INIT;

	split(argv_text, &argv);
	template_expand(&argv, values, &got);
	for (size_t i = 0; i < got.count; i++)
		text_addf(&joined, "%s%s", i ? "|" : "", got.items[i]);
	is_str(joined.data, want, argv_text);
}

static const struct {
	const char *argv, *want;
} names[] = {
	{ "{batch}", "1536" },
	{ "{local_batch}", "128" },
	{ "{accum}", "4" },
	{ "{gpus}", "3" },
	{ "{lr}", "0.25" },				/* 0.1 * 2.5 */
	{ "{lr_scale}", "2.5" },
	{ "{samples}", "0" },				/* none yet */
	{ "{checkpoint}", "/ckpt dir" },		/* one argument, blank and all */
	{ "{port}", "29501" },
	{ "{job}", "17" },
	{ "--nnodes={nodes}", "--nnodes=1" },		/* on this machine */
	{ "{node}", "0" },
	{ "{master}:{port}", "127.0.0.1:29501" },
	{ "{gpus_per_node}", "3" },
	{ "{run}", "1" },
	{ "--out={checkpoint}/{job}-{run}.pt", "--out=/ckpt dir/17-1.pt" },
	{ "{gpus}{gpus}", "33" },
	{ "train|--batch|{batch}", "train|--batch|1536" },
	/* a second pair of braces makes the first one stand for itself */
	{ "{{batch}}", "{batch}" },
	{ "{{{batch}}}", "{{batch}}" },
	{ "{{batch}", "{1536" },
	{ "{batch}}", "1536}" },
	{ "{\"a\": {\"lr\": {lr}}}", "{\"a\": {\"lr\": 0.25}}" },
	{ "{{}{job}", "{{}17" },
	{ "", "" },
	{ "a||b", "a||b" },
	{ "two\nlines {gpus}", "two\nlines 3" },
	/* {resume} before there is anything to resume from: no argument, or nothing */
	{ "x|{resume}|y", "x|y" },
	{ "x|-{resume}-|y", "x|--|y" },
};

/* What is no template comes out as it went in. */
static const char *const unchanged[] = {
	"{", "}", "{}", "{{}}", "{{", "}}", "{{{{", "}{", "{ }", "a}b", "{x}", "{{x}}", "{{{x}}}",
	"{{ job }}", "{ job }", "{job", "job}",
	"{job }", "{job:>3}", "{job!r}", "{job.id}", "{Job}",
	"{job,run}", "{1..3}", "{\"lr\": 0.1}",
	"{'job': 1}", "{lr: 0.1}", "model={a:1}", "{print $1}",
	"${HOME}", "${job}", "${job:-1}", "$${run}", "${#job}", "%{http_code}", "{\njob\n}",
	"{{% if x %}}", "\\frac{1}{2}", "^a{2,3}$", "HEAD@{1}", "{batchsize}", "{checkpoints}",
	"{resume_args}", "{plan}", "{0}", "{_}", "\xff{\xff}",
};

static void test_unchanged(void)
{
	for (size_t i = 0; i < COUNT(unchanged); i++) {
		struct template_values nodes = first_launch;
		scoped(strings_release) struct strings argv = { 0 }, got = { 0 };
		autofree char *again = NULL;

		expands(unchanged[i], &first_launch, unchanged[i]);
		nodes.nodes = (struct template_nodes){ 2, "n7" };
		strings_add(&argv, unchanged[i]);
		template_expand(&argv, &nodes, &got);
		again = template_expand_node(got.items[0], 1);
		is_str(again, unchanged[i],
		       "a text that is no template is unchanged on a node of a cluster");
	}
}

static void test_gpu_list(void)
{
	struct device gpus[] = { { .id = "gpu:GPU-1-a" }, { .id = "gpu:MIG-2" } };
	struct device slots[] = { { .id = "cpu:0" } }, others[] = { { .id = "slurm:n1:0" } };
	struct template_values values = first_launch;
	char *list = template_gpu_list(gpus, 2);

	is_str(list, "GPU-1-a,MIG-2", "the list of GPUs has their UUIDs");
	values.gpu_list = list;
	expands("--gpus|\"device={gpu_list}\"|{{gpu_list}}", &values,
		"--gpus|\"device=GPU-1-a,MIG-2\"|{gpu_list}");
	free(list);
	ok(!template_gpu_list(slots, 1), "slots of the CPU have no list of GPUs");
	ok(!template_gpu_list(others, 1), "GPUs of another machine have no list");
	expands("device={gpu_list}", &first_launch, "device={gpu_list}");
}

/* Templates of options that the job does not have. */
static void test_lacking(void)
{
	struct template_values none = first_launch;
	struct template_facts facts = { 0 };

	none.facts = facts;
	none.resume_args = none.plan_args = NULL;
	expands("{batch}|{local_batch}|{accum}|{lr}|x{lr}|{resume}|{plan}|-{resume}", &none,
		"{batch}|{local_batch}|{accum}|{lr}|x{lr}|{resume}|{plan}|-{resume}");
	expands("{gpus}|{lr_scale}|{samples}|{job}|{run}", &none, "3|2.5|0|17|1");
	expands("{{batch}}", &none, "{batch}");
	is_str(template_lacks("batch", 5, &facts), "--batch", "{batch} needs --batch");
	is_str(template_lacks("lr", 2, &facts), "--lr", "{lr} needs --lr");
	is_str(template_lacks("resume", 6, &facts), "--resume-args",
	       "{resume} needs --resume-args");
	is_str(template_lacks("plan", 4, &facts), "--plan", "{plan} needs --plan");
	ok(!template_lacks("job", 3, &facts), "{job} needs nothing");
}

static void test_names(void)
{
	struct template_values later = first_launch;

	for (size_t i = 0; i < COUNT(names); i++)
		expands(names[i].argv, &first_launch, names[i].want);
	later.samples = 123456789012.0;
	expands("{samples}", &later, "123456789012");
	later.learning_rate = 3e-4;
	later.learning_rate_scale = 1;
	expands("{lr}", &later, "0.0003");
	later.typed_learning_rate = "3e-4";
	expands("{lr}", &later, "3e-4");
	later.learning_rate_scale = sqrt(2);
	expands("{lr_scale}", &later, "1.41421356");
	expands("{lr}", &later, "0.000424264069");
}

/* From the second launch on: split at blanks first, expanded word by word after. */
static void test_resume(void)
{
	struct template_values v = first_launch;

	v.run_number = 2;
	v.resume_args = "--resume --from  {checkpoint}/last.pt\t-n{run}";
	expands("x|{resume}|y", &v, "x|--resume|--from|/ckpt dir/last.pt|-n2|y");
	expands("x|y", &v, "x|y|--resume|--from|/ckpt dir/last.pt|-n2");
	expands("x|--with={resume}|y", &v, "x|--with=--resume --from  /ckpt dir/last.pt\t-n2|y");
	expands("x|{{resume}}|y", &v, "x|{resume}|y|--resume|--from|/ckpt dir/last.pt|-n2");
	v.resume_args = " \t ";
	expands("x|{resume}|y", &v, "x|y");
	expands("x", &v, "x");
	v.resume_args = "{literal} {{run}} {resume} {plan}";
	expands("x", &v, "x|{literal}|{run}|{resume}|{plan}");
	v.facts.has_plans = true;
	v.plan_args = "-{plan} {resume} {job}";
	expands("x|y={plan}", &v, "x|y=-{plan} {resume} 17|{literal}|{run}|{resume}|-{plan} "
		"{resume} 17");
}

/* What a text means is the same after it was escaped: the text itself. */
static void test_escape(void)
{
	static const char *const values[] = {
	"{batch}", "{{batch}}", "{{{batch}}}", "{x}",
	"${job}", "a{job}b{run}", "{", "{{", "",
	};

	for (size_t i = 0; i < COUNT(values); i++) {
		scoped(text_release) struct text escaped = TEXT_INIT;

		braces_escape(values[i], template_knows, &escaped);
		expands(escaped.data, &first_launch, values[i]);
	}
}

static const struct {
	const char *word, *near;	/* NULL: none */
} words[] = {
	{ "checkpoints", "checkpoint" }, { "batchsize", "batch" }, { "batch_size", "batch" },
	{ "bacth", "batch" }, { "batc", "batch" }, { "batchs", "batch" }, { "bathc", "batch" },
	{ "chekpoint", "checkpoint" }, { "checkpiont", "checkpoint" }, { "chckpnt", NULL },
	{ "checkpont_", "checkpoint" }, { "checkpoint_dir", "checkpoint" }, { "gpu", "gpus" },
	{ "gups", "gpus" }, { "GPUS", "gpus" }, { "num_gpus", "gpus" }, { "ngpus", "gpus" },
	{ "replica", "replicas" }, { "repliacs", "replicas" }, { "localbatch", "local_batch" },
	{ "local_batch_size", "local_batch" }, { "lrscale", "lr_scale" }, { "LR", "lr" },
	{ "resumes", "resume" }, { "resme", "resume" }, { "sample", "samples" },
	{ "newst", "newest" }, { "plans", "plan" }, { "ports", "port" }, { "jobs", "job" },
	{ "job_id", "job" }, { "jobid", "job" }, { "run_id", "run" }, { "run_number", "run" },
	{ "Job", "job" }, { "acum", "accum" }, { "gpus_pernode", "gpus_per_node" },
	{ "node_rank", "node" }, { "nnodes", "nodes" }, { "mastre", "master" },
	/* words of other people's */
	{ "x", NULL }, { "i", NULL }, { "lo", NULL }, { "r", NULL }, { "l", NULL }, { "lrs", NULL },
	{ "jo", NULL }, { "sub", NULL }, { "rub", NULL }, { "fun", NULL }, { "jog", NULL },
	{ "jab", NULL }, { "rum", NULL }, { "or", NULL }, { "code", NULL }, { "mode", NULL },
	{ "note", NULL }, { "part", NULL }, { "path", NULL }, { "patch", NULL }, { "match", NULL },
	{ "result", NULL }, { "acc", NULL }, { "loss", NULL }, { "epoch", NULL }, { "step", NULL },
	{ "names", NULL }, { "run_dir", NULL },
	{ "name", NULL }, { "play", NULL }, { "post", NULL },
	{ "HOME", NULL }, { "index", NULL }, { "batch", NULL },
};

static const char *near_of(const char *word)
{
	for (int i = 0; template_name(i); i++)
		if (braces_word_is_near(word, template_name(i)))
			return template_name(i);
	return NULL;
}

static void test_near(void)
{
	autofree char *long_word = calloc(1, 3001);

	for (size_t i = 0; i < COUNT(words); i++) {
		const char *near = near_of(words[i].word);

		is_str(near ? near : "-", words[i].near ? words[i].near : "-", words[i].word);
	}
	memset(long_word, 'x', 3000);
	ok(!near_of(long_word), "a word of 3000 letters is near no name");
}

/* --- in names --- */

static void test_job(void)
{
	char *name = braces_put_job("x-{job}-{{job}}-${job}-{run}-{{run}}", 7);

	is_str(name, "x-7-{job}-${job}-{run}-{{run}}", "only {job} is put into a name");
	free(name);
	ok(braces_have_job("{{job}}") && braces_have_job("{job}"),
	   "{job} and {{job}} both have to be put in");
	ok(!braces_have_job("job {jobs} ${job}"), "other words in braces need not be put in");
	ok(braces_name_is("x-{job}", 7, "x-7") && !braces_name_is("x-{job}", 7, "x-8"),
	   "a name with {job} is the name of that number alone");
}

static void test_mentions(void)
{
	struct strings argv = { 0 };

	split("a|x={gpus}", &argv);
	ok(template_mentions(&argv, "gpus"), "a name within an argument is mentioned");
	ok(!template_mentions(&argv, "gpu"), "the beginning of a name is not mentioned");
	strings_release(&argv);
	split("{{gpus}}|gpus}|gpus|${gpus}", &argv);
	ok(!template_mentions(&argv, "gpus"), "a name in literal braces is not mentioned");
	strings_release(&argv);
}

/* What each node makes of a command that was rendered for all nodes. */
static void test_nodes(void)
{
	static const char command[] =
		"torchrun|--nnodes={nodes}|--node_rank={node}|--nproc={gpus_per_node}"
		"|{master}:{port}|${HOME}|{checkpoint}|{{node}}|{{|{x}";
	struct template_values values = first_launch;
	scoped(strings_release) struct strings argv = { 0 }, all = { 0 };
	scoped(text_release) struct text joined = TEXT_INIT;

	values.configuration.replicas = 8;
	values.configuration.nodes = 2;
	values.nodes = (struct template_nodes){ 2, "n7" };
	values.checkpoint_dir = "/a{node}b";	/* a name, not a template */
	split(command, &argv);
	template_expand(&argv, &values, &all);
	for (size_t i = 0; i < all.count; i++) {
		autofree char *one = template_expand_node(all.items[i], 1);

		text_addf(&joined, "%s%s", i ? "|" : "", one);
	}
	is_str(joined.data, "torchrun|--nnodes=2|--node_rank=1|--nproc=4|n7:29501|${HOME}|"
	       "/a{node}b|{node}|{{|{x}", "the second of two nodes gets its own command");
}

int main(void)
{
	test_nodes();
	test_names();
	test_unchanged();
	test_lacking();
	test_gpu_list();
	test_resume();
	test_escape();
	test_near();
	test_job();
	test_mentions();
	return done();
}
