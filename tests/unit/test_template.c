/* test_template.c - {names} in a command: refused at submission, or expanded at launch. */
#include "pollux/template.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Values that tell each name from every other. */
static const struct template_values first_launch = {
	.job_id = 17, .run_number = 1,
	.configuration = { .replicas = 3, .accumulation_steps = 4, .local_batch_size = 128 },
	.learning_rate = 0.1, .learning_rate_scale = 2.5,
	.samples = (double)NAN, .checkpoint_dir = "/ckpt dir", .port = 29501,
};

static const struct template_facts all_facts = {
	.has_batch_size = true, .has_learning_rate = true, .has_resume_args = true,
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
	struct strings argv = { 0 }, got = { 0 };
	struct text joined = TEXT_INIT;

	split(argv_text, &argv);
	template_expand(&argv, values, &got);
	for (size_t i = 0; i < got.count; i++)
		text_addf(&joined, "%s%s", i ? "|" : "", got.items[i]);
	is_str(joined.data, want, argv_text);
	text_release(&joined);
	strings_release(&argv);
	strings_release(&got);
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
	{ "{{batch}", "{batch}" },
	{ "{{{{", "{{" },
	{ "{{{batch}", "{1536" },
	{ "a}b", "a}b" },
	/* refused by the check; expands to nothing */
	{ "{\"lr\": 1}", "" },
	{ "{{\"lr\": {lr}}", "{\"lr\": 0.25}" },
	{ "", "" },
	{ "a||b", "a||b" },
	{ "two\nlines {gpus}", "two\nlines 3" },
	/* {resume} before there is anything to resume from: no argument, or nothing */
	{ "x|{resume}|y", "x|y" },
	{ "x|-{resume}-|y", "x|--|y" },
};

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
	expands("x|{{resume}|y", &v, "x|{resume}|y|--resume|--from|/ckpt dir/last.pt|-n2");
	v.resume_args = " \t ";
	expands("x|{resume}|y", &v, "x|y");
	expands("x", &v, "x");
	v.resume_args = "{{literal}";
	expands("x", &v, "x|{literal}");
}

static const struct refusal {
	const char *argv, *resume_args;
	bool batch, lr, resume;
	const char *message;
} refusals[] = {
	{ "a|{batch}", NULL, 0, 1, 1, "'{batch}' in argument 1 of the command needs --batch" },
	{ "a|b|{local_batch}", NULL, 0, 1, 1,
	  "'{local_batch}' in argument 2 of the command needs --batch" },
	{ "{accum}", NULL, 0, 1, 1, "'{accum}' in argument 0 of the command needs --batch" },
	{ "a|{lr}", NULL, 1, 0, 1, "'{lr}' in argument 1 of the command needs --lr" },
	{ "a|x{resume}", NULL, 1, 1, 0,
	  "'{resume}' in argument 1 of the command needs --resume-args" },
	{ "a|{bacth}", NULL, 1, 1, 1,
	  "unknown template '{bacth}' in argument 1 of the command; a literal brace is '{{'" },
	{ "a|{}", NULL, 1, 1, 1,
	  "unknown template '{}' in argument 1 of the command; a literal brace is '{{'" },
	{ "a|{ batch}", NULL, 1, 1, 1,
	  "unknown template '{ batch}' in argument 1 of the command; a literal brace is '{{'" },
	{ "a|{Batch}", NULL, 1, 1, 1,
	  "unknown template '{Batch}' in argument 1 of the command; a literal brace is '{{'" },
	{ "a|{batch", NULL, 1, 1, 1,
	  "'{' without '}' in argument 1 of the command; a literal brace is '{{'" },
	{ "a|{", NULL, 1, 1, 1,
	  "'{' without '}' in argument 1 of the command; a literal brace is '{{'" },
	{ "a|{{{", NULL, 1, 1, 1,
	  "'{' without '}' in argument 1 of the command; a literal brace is '{{'" },
	{ "a", "{resume}", 1, 1, 1, "'{resume}' in --resume-args needs --resume-args" },
	{ "a", "--x {batch}", 0, 1, 1, "'{batch}' in --resume-args needs --batch" },
	{ "a", "--x {y}", 1, 1, 1,
	  "unknown template '{y}' in --resume-args; a literal brace is '{{'" },
};

static void test_refused(void)
{
	for (size_t i = 0; i < COUNT(refusals); i++) {
		const struct refusal *r = &refusals[i];
		struct template_facts facts = { r->batch, r->lr, r->resume, false };
		struct strings argv = { 0 };
		struct err err = { 0 };

		split(r->argv, &argv);
		is_int(template_check(&argv, r->resume_args, &facts, &err), -1, r->argv);
		is_int(err.exit_status, EX_USAGE, "is a usage error");
		is_str(err.text, r->message, "that says where and why");
		strings_release(&argv);
	}
}

static void test_accepted(void)
{
	struct template_facts none = { 0 };
	struct strings argv = { 0 };
	struct err err = { 0 };

	split("{batch}{local_batch}|{accum}|{gpus}|{lr}|{lr_scale}|{samples}|{checkpoint}|{resume}|"
	      "{port}|{job}|{run}|{{|}|{{x}", &argv);
	is_int(template_check(&argv, "{batch} {lr} {{ }", &all_facts, &err), 0,
	       "every name there is");
	strings_release(&argv);
	split("{gpus}|{lr_scale}|{samples}|{checkpoint}|{port}|{job}|{run}", &argv);
	is_int(template_check(&argv, NULL, &none, &err), 0, "those that need no declaration");
	strings_release(&argv);
}

static void test_long_name(void)
{
	char name[3000];
	struct strings argv = { 0 };
	struct err err = { 0 };

	memset(name, 'x', sizeof(name));
	name[0] = '{';
	name[sizeof(name) - 2] = '}';
	name[sizeof(name) - 1] = '\0';
	strings_add(&argv, name);
	is_int(template_check(&argv, NULL, &all_facts, &err), -1, "a name of 3000 letters");
	ok(strlen(err.text) < 200, "is clipped in the message");
	strings_release(&argv);
}

static void test_mentions(void)
{
	struct strings argv = { 0 };

	split("a|x={gpus}", &argv);
	ok(template_mentions(&argv, "gpus"), "a name within an argument is mentioned");
	ok(!template_mentions(&argv, "gpu"), "not the beginning of one");
	strings_release(&argv);
	split("{{gpus}|gpus}|gpus", &argv);
	ok(!template_mentions(&argv, "gpus"), "a literal brace makes no name");
	strings_release(&argv);
}

/* What each node makes of a command that was rendered for all nodes. */
static void test_nodes(void)
{
	static const char command[] =
		"torchrun|--nnodes={nodes}|--node_rank={node}|--nproc={gpus_per_node}"
		"|{master}:{port}|${{HOME}|{checkpoint}|{{node}";
	struct template_values values = first_launch;
	struct strings argv = { 0 }, all = { 0 }, one = { 0 };
	struct text joined = TEXT_INIT;

	values.configuration.replicas = 8;
	values.configuration.nodes = 2;
	values.nodes = (struct template_nodes){ 2, "n7" };
	values.checkpoint_dir = "/a{node}b";	/* a name, not a template */
	split(command, &argv);
	template_expand(&argv, &values, &all);
	template_expand_node(&all, 1, &one);
	for (size_t i = 0; i < one.count; i++)
		text_addf(&joined, "%s%s", i ? "|" : "", one.items[i]);
	is_str(joined.data, "torchrun|--nnodes=2|--node_rank=1|--nproc=4|n7:29501|${HOME}|"
	       "/a{node}b|{node}", "the command of the second of two nodes");
	text_release(&joined);
	strings_release(&argv);
	strings_release(&all);
	strings_release(&one);
}

int main(void)
{
	test_nodes();
	test_names();
	test_resume();
	test_refused();
	test_accepted();
	test_long_name();
	test_mentions();
	return done();
}
