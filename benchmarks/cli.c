/* cli.c - how long commands take as whole processes, in turn. Used by cli.sh.
 *
 *	cli ROUNDS FILE
 *
 * Each line of FILE is a name and the words of a command, with tabs between; NAME=VALUE before the
 * program goes into its environment. In every round each command runs once, one after the other, so
 * that what else the machine does falls on all alike; each round begins with another one. Printed
 * for each, with tabs between: name, median, least and greatest time in milliseconds. A command
 * that fails ends it all. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/text.h"

#define WARM_UP_ROUNDS 2
/* What a command leaves behind (nq's child, a server's work) is not to be timed with the next. */
#define REST_NS 3000000L

struct subject {
	char *name;
	struct strings argv, env;
	double *times_ms;
};

static _Noreturn void fail(const char *what, const char *name, const char *why)
{
	fprintf(stderr, "cli: %s '%s': %s\n", what, name, why);
	exit(1);
}

static void add_word(struct subject *s, char *word)
{
	char *equals = strchr(word, '=');

	if (s->argv.count || !equals) {
		strings_add(&s->argv, word);
		return;
	}
	*equals = '\0';
	strings_set_variable(&s->env, word, equals + 1);
}

static void parse(struct subject *s, char *line, int rounds)
{
	char *save = NULL, *name = strtok_r(line, "\t\n", &save);

	*s = (struct subject){
		.name = xstrdup(name ? name : ""),
		.times_ms = xcalloc((size_t)rounds, sizeof(double)),
	};
	for (char **variable = environ; *variable; variable++)
		strings_add(&s->env, *variable);
	for (char *word; (word = strtok_r(NULL, "\t\n", &save)); )
		add_word(s, word);
	if (!s->argv.count)
		fail("cannot read", s->name, "no command");
}

static double run_ms(const struct subject *s, const posix_spawn_file_actions_t *files)
{
	int64_t start_ns = clock_boot_ns(), end_ns;
	int status, rc;
	pid_t pid;

	rc = posix_spawnp(&pid, s->argv.items[0], files, NULL, s->argv.items, s->env.items);
	if (rc)
		fail("cannot run", s->name, strerror(rc));
	if (waitpid(pid, &status, 0) < 0)
		fail("cannot wait for", s->name, strerror(errno));
	end_ns = clock_boot_ns();
	if (status)
		fail("no success of", s->name, WIFEXITED(status) ? "exit status not 0" : "killed");
	return (double)(end_ns - start_ns) * 1e-6;
}

static void run_rounds(struct subject *subjects, int n, int rounds)
{
	const struct timespec rest = { .tv_nsec = REST_NS };
	posix_spawn_file_actions_t files;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
		for (int k = 0; k < n; k++) {
			struct subject *s = &subjects[(round + WARM_UP_ROUNDS + k) % n];
			double ms;

			nanosleep(&rest, NULL);
			ms = run_ms(s, &files);
			if (round >= 0)
				s->times_ms[round] = ms;
		}
	}
	posix_spawn_file_actions_destroy(&files);
}

static void print_and_release(struct subject *s, int rounds)
{
	double *t = s->times_ms;

	qsort(t, (size_t)rounds, sizeof(*t), number_compare);
	printf("%s\t%.3f\t%.3f\t%.3f\n", s->name, (t[(rounds - 1) / 2] + t[rounds / 2]) / 2, t[0],
	       t[rounds - 1]);
	free(s->name);
	free(s->times_ms);
	strings_release(&s->argv);
	strings_release(&s->env);
}

static int read_subjects(const char *path, int rounds, struct subject **subjects)
{
	FILE *file = fopen(path, "r");
	char line[4096];
	int n = 0;

	if (!file)
		fail("cannot open", path, strerror(errno));
	*subjects = NULL;
	while (fgets(line, sizeof(line), file)) {
		*subjects = xreallocarray(*subjects, (size_t)n + 1, sizeof(**subjects));
		parse(&(*subjects)[n++], line, rounds);
	}
	fclose(file);
	return n;
}

int main(int argc, char **argv)
{
	struct subject *subjects;
	int64_t rounds;
	int n;

	if (argc != 3 || number_parse_int(argv[1], &rounds) || rounds < 1 || rounds > 100000) {
		fputs("usage: cli ROUNDS FILE\n", stderr);
		return 2;
	}
	n = read_subjects(argv[2], (int)rounds, &subjects);
	run_rounds(subjects, n, (int)rounds);
	for (int i = 0; i < n; i++)
		print_and_release(&subjects[i], (int)rounds);
	free(subjects);
	return 0;
}
