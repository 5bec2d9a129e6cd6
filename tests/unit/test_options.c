/* test_options.c - option tables: what is accepted, what is refused, and in which words. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/commands.h"
#include "tap.h"
#include "pollux/mem.h"

struct values {
	int64_t count;
	double rate, limit;
	const char *name;
	struct text_list environment;
	int64_t replicas[2];
	bool json;
};

static const struct option_spec options[] = {
	{ "count", 'c', OPTION_INT, "N", .offset = offsetof(struct values, count), 1, 1024,
	  "a count" },
	{ "rate", 0, OPTION_NUMBER, "SECONDS", .offset = offsetof(struct values, rate), 0.1,
	  HUGE_VAL, "a rate" },
	{ "limit", 'l', OPTION_DURATION, "TIME", .offset = offsetof(struct values, limit), 1, 86400,
	  "a limit" },
	{ "name", 'n', OPTION_TEXT, "NAME", .offset = offsetof(struct values, name), 0, 0,
	  "a name" },
	{ "env", 'e', OPTION_LIST, "NAME=VALUE", .offset = offsetof(struct values, environment),
	  0, 0,
	  "a variable, said in words that fill the line to column eighty, and go on in the next "
	  "line, where a word sticks out by one" },
	{ "replicas", 'r', OPTION_RANGE, "MIN:MAX", .offset = offsetof(struct values, replicas),
	  1, 8, "how many" },
	{ "json", 0, OPTION_FLAG, NULL, .offset = offsetof(struct values, json), 0, 0,
	  "print JSON" },
	{ "any-number", 0, OPTION_INT, "N", .offset = offsetof(struct values, count), 0, 0,
	  "unbounded" },
	{ .name = NULL },
};

static const struct command command = {
	.name = "demo", .synopsis = "[OPTION]... [--] COMMAND", .summary = "try options",
	.example = "pollux demo -c 1\npollux demo", .options = options, .runs_program = true,
};
static const struct command mixed = { .name = "mixed", .synopsis = "ID...", .summary = "any order",
				      .options = options };
static const struct command bare = { .name = "bare", .synopsis = "ID...", .summary = "no options" };

#define MOST 16
#define STORAGE 256

static char storage[STORAGE];	/* outlives options_parse, which borrows from it */
static char *argv[MOST + 1];
static int argc, first;
static struct err err;

/* Split words at blanks into argc and argv; a word '' is empty. */
static void split(const char *words)
{
	char *rest = NULL;

	snprintf(storage, STORAGE, "%s", words);
	argc = 0;
	for (char *w = strtok_r(storage, " ", &rest); w && argc < MOST;
	     w = strtok_r(NULL, " ", &rest))
		argv[argc++] = strcmp(w, "''") == 0 ? w + 2 : w;
	argv[argc] = NULL;
}

static int parse(const struct command *c, const char *words, struct values *v)
{
	*v = (struct values){ 0 };
	err = (struct err){ 0 };
	split(words);
	return options_parse(c, argc, argv, v, &first, &err);
}

static void test_accepted(void)
{
	struct values v;

	is_int(parse(&command, "demo -c 5 --rate=2.5 -l1h30m --name x -e A=1 --env B=2 -r 2:4 "
		     "--json prog --json", &v), 0, "a command takes options of all kinds");
	is_int(v.count, 5, "an option takes a whole number");
	near(v.rate, 2.5, 0, "an option takes a number");
	near(v.limit, 5400, 0, "an option takes a time in seconds");
	is_str(v.name, "x", "an option takes a text");
	is_int((long long)v.environment.count, 2, "a list holds each appearance of its option");
	is_str(v.environment.items[0], "A=1",
	       "a list begins with the first appearance of its option");
	is_str(v.environment.items[1], "B=2", "a list ends with the last appearance of its option");
	is_int(v.replicas[0], 2, "a range has its minimum");
	is_int(v.replicas[1], 4, "a range has its maximum");
	ok(v.json, "a flag is set");
	is_str(argv[first], "prog", "the first operand ends the options of a program's command");
	is_int(argc - first, 2, "words after the first operand are left alone");
	options_release(&command, &v);
	ok(!v.environment.items && !v.environment.count, "a release empties the list");
}

static void test_ends(void)
{
	struct values v;

	is_int(parse(&command, "demo -- --json", &v), 0, "-- ends the options");
	ok(!v.json, "an option after -- is an operand");
	is_str(argv[first], "--json", "the word after -- is the first operand");
	is_int(parse(&command, "demo -c 5 -c 6", &v), 0, "an option may be there twice");
	is_int(v.count, 6, "the last one of two equal options counts");
	is_int(parse(&command, "demo -c 1", &v), 0, "an option takes its least value");
	is_int(parse(&command, "demo -c 1024", &v), 0, "an option takes its greatest value");
	is_int(parse(&command, "demo", &v), 0, "a command takes no argument at all");
	is_int(first, argc, "no argument leaves no operand");
	is_int(parse(&command, "demo --any-number -9223372036854775808", &v), 0,
	       "an option without bounds takes the least integer");
	ok(v.count == INT64_MIN, "an option without bounds reads the least integer");
	is_int(parse(&command, "demo -r 3", &v), 0, "a range takes one number");
	ok(v.replicas[0] == 3 && v.replicas[1] == 3,
	   "a range of one number has it as minimum and maximum");
	is_int(parse(&command, "demo --repl 3", &v), 0,
	       "an option takes an unambiguous beginning of its name");
	is_int(parse(&bare, "bare 17", &v), 0, "a command without options takes an operand");
}

/* A command that runs no program takes options after operands too. */
static void test_order(void)
{
	struct values v;

	is_int(parse(&mixed, "mixed 17 --json 18 -c 5 -- --json", &v), 0,
	       "a command that runs no program takes options among operands");
	ok(v.json && v.count == 5, "options among operands are read");
	is_int(argc - first, 3, "words that are no options are operands");
	is_str(argv[first], "17", "the first operand among options stays first");
	is_str(argv[first + 1], "18", "the second operand among options stays second");
	is_str(argv[first + 2], "--json", "a word after -- is the last operand");
	split("mixed 17 -c 5 18");
	ok(!options_ask_help(&mixed, argc, argv), "help is not asked by other options");
	is_int(options_parse(&mixed, argc, argv, &v, &first, &err), 0,
	       "words are parsed after they were searched for help");
	ok(first == argc - 2 && !strcmp(argv[first], "17") && !strcmp(argv[first + 1], "18"),
	   "words keep their order when they are parsed a second time");
	is_int(parse(&mixed, "mixed 17 18 --jsno", &v), -1,
	       "a wrong option after operands is refused");
	is_str(err.text, "unknown option '--jsno'; did you mean '--json'?",
	       "the error names the wrong option after operands");
	split("mixed 17 --help");
	ok(options_ask_help(&mixed, argc, argv), "help is asked by --help after an operand");
}

static const struct refusal {
	const char *words, *text;
} refusals[] = {
	{ "demo --count x", "option '--count N': 'x' is not a whole number from 1 to 1024" },
	{ "demo -c 5x", "option '--count N': '5x' is not a whole number from 1 to 1024" },
	{ "demo -c 0", "option '--count N': '0' is not a whole number from 1 to 1024" },
	{ "demo -c 1025", "option '--count N': '1025' is not a whole number from 1 to 1024" },
	{ "demo -c -1", "option '--count N': '-1' is not a whole number from 1 to 1024" },
	{ "demo -c 1.5", "option '--count N': '1.5' is not a whole number from 1 to 1024" },
	{ "demo -c 99999999999999999999",
	  "option '--count N': '99999999999999999999' is not a whole number from 1 to 1024" },
	{ "demo --any-number 9223372036854775808",
	  "option '--any-number N': '9223372036854775808' is not a whole number" },
	{ "demo --count", "option '--count N' needs a whole number from 1 to 1024" },
	{ "demo -c", "option '--count N' needs a whole number from 1 to 1024" },
	{ "demo -c ''", "option '--count N' needs a whole number from 1 to 1024" },
	{ "demo --rate 0.05", "option '--rate SECONDS': '0.05' is not a number of at least 0.1" },
	{ "demo --rate nan", "option '--rate SECONDS': 'nan' is not a number of at least 0.1" },
	{ "demo --rate inf", "option '--rate SECONDS': 'inf' is not a number of at least 0.1" },
	{ "demo --rate 1e999", "option '--rate SECONDS': '1e999' is not a number of at least 0.1" },
	{ "demo --rate 0x10", "option '--rate SECONDS': '0x10' is not a number of at least 0.1" },
	{ "demo -l 2d", "option '--limit TIME': '2d' is not a time (such as 90s, 1.5m, 2h or 1d) "
			"from 1 to 86400 seconds" },
	{ "demo -l 5y", "option '--limit TIME': '5y' is not a time (such as 90s, 1.5m, 2h or 1d) "
			"from 1 to 86400 seconds" },
	{ "demo --name=", "option '--name NAME' needs a value that is not empty" },
	{ "demo -e ''", "option '--env NAME=VALUE' needs a value that is not empty" },
	{ "demo -r 4:2", "option '--replicas MIN:MAX': '4:2' is not a whole number, or two "
			 "as smaller:larger, from 1 to 8" },
	{ "demo -r 1:9", "option '--replicas MIN:MAX': '1:9' is not a whole number, or two "
			 "as smaller:larger, from 1 to 8" },
	{ "demo -r :", "option '--replicas MIN:MAX': ':' is not a whole number, or two "
		       "as smaller:larger, from 1 to 8" },
	{ "demo -r 1:2:3", "option '--replicas MIN:MAX': '1:2:3' is not a whole number, or two "
			   "as smaller:larger, from 1 to 8" },
	{ "demo --json=yes", "option '--json' takes no value; see 'pollux demo --help'" },
	{ "demo --help=yes", "option '--help' takes no value; see 'pollux demo --help'" },
	{ "demo -z", "unknown option '-z'; see 'pollux demo --help'" },
	{ "demo -1", "unknown option '-1'; see 'pollux demo --help'" },
	{ "demo --jsno", "unknown option '--jsno'; did you mean '--json'?" },
	{ "demo --replica=2x --cuont 1",
	  "option '--replicas MIN:MAX': '2x' is not a whole number, or two as smaller:larger, "
	  "from 1 to 8" },
	{ "demo --cuont=1", "unknown option '--cuont'; did you mean '--count'?" },
	{ "demo --frobnicate", "unknown option '--frobnicate'; see 'pollux demo --help'" },
	{ "demo --r 1", "option '--r' could be several; see 'pollux demo --help'" },
};

static void test_refused(void)
{
	struct values v;

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *r = &refusals[i];

		if (!ok(parse(&command, r->words, &v) == -1 && err.exit_status == EX_USAGE,
			r->words))
			continue;
		is_str(err.text, r->text, "the error names the option and what would be right");
		options_release(&command, &v);
	}
	is_int(parse(&bare, "bare --json", &v), -1, "a command without options refuses an option");
	is_str(err.text, "unknown option '--json'; see 'pollux bare --help'",
	       "the error of a command without options names the command");
}

/* A value of megabytes is neither copied nor shown whole. */
static void test_long_value(void)
{
	size_t n = (size_t)4 << 20;
	char *value = malloc(n + 1), *words[] = { NULL, NULL, NULL, NULL };
	char demo[] = "demo", count[] = "--count";
	struct values v = { 0 };
	struct err e = { 0 };
	int at;

	if (!value)
		exit(1);
	memset(value, 'x', n);
	value[n] = '\0';
	words[0] = demo;
	words[1] = count;
	words[2] = value;
	is_int(options_parse(&command, 3, words, &v, &at, &e), -1, "a value of 4 MiB is refused");
	is_str(e.text,
	       "option '--count N': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..' "
	       "is not a whole number from 1 to 1024",
	       "the error clips a value of 4 MiB and not the range");
	free(value);
}

static bool asks_help(const char *words)
{
	split(words);
	return options_ask_help(&command, argc, argv);
}

static void test_ask_help(void)
{
	ok(asks_help("demo --help"), "--help asks for help");
	ok(asks_help("demo -h"), "-h asks for help");
	ok(asks_help("demo -c 1 --help"), "--help after an option asks for help");
	ok(asks_help("demo --bogus --help"), "--help after a wrong option asks for help");
	ok(!asks_help("demo -- --help"), "--help after -- does not ask for help");
	ok(!asks_help("demo prog --help"), "--help after an operand does not ask for help");
	ok(!asks_help("demo --name --help"), "--help as a value does not ask for help");
	ok(asks_help("demo --name --help --help"), "--help after a value --help asks for help");
	ok(!asks_help("demo"), "a command without --help does not ask for help");
}

static void test_job_id(void)
{
	static const char *const wrong[] = { "-1", "0", "x", "", "1x", " 1", "+1", "1.0",
					     "9223372036854775808" };
	long long id = 0;

	is_int(parse_job_id(&command, "17", &id, &err), 0, "a job number is no error");
	is_int(id, 17, "a job number is read");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ok(parse_job_id(&command, wrong[i], &id, &err) == -1 && err.exit_status == EX_USAGE,
		   wrong[i]);
	is_int(id, 17, "a refused job number leaves the variable as it was");
	parse_job_id(&command, "x", &id, &err);
	is_str(err.text, "'x' is not a job number; see 'pollux demo --help'",
	       "the error names the refused job number and its command");
	usage_error(NULL, &err, "no %s", "command");
	is_str(err.text, "no command; see 'pollux --help'",
	       "a usage error without a command names 'pollux --help'");
}

static const char help_text[] =
	"usage: pollux demo [OPTION]... [--] COMMAND\n"
	"\n"
	"try options\n"
	"\n"
	"options:\n"
	"  -c, --count N           a count\n"
	"      --rate SECONDS      a rate\n"
	"  -l, --limit TIME        a limit\n"
	"  -n, --name NAME         a name\n"
	"  -e, --env NAME=VALUE    a variable, said in words that fill the line to column\n"
	"                          eighty, and go on in the next line, where a word\n"
	"                          sticks out by one\n"
	"  -r, --replicas MIN:MAX  how many\n"
	"      --json              print JSON\n"
	"      --any-number N      unbounded\n"
	"  -h, --help              print this help\n"
	"\n"
	"examples:\n"
	"  pollux demo -c 1\n"
	"  pollux demo\n";

static void test_help(void)
{
	autofree char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	command_help(&command, true, out);
	fclose(out);
	is_str(text, help_text, "the help is made from the table of options");
}

int main(void)
{
	test_accepted();
	test_ends();
	test_order();
	test_refused();
	test_long_value();
	test_ask_help();
	test_job_id();
	test_help();
	return done();
}
