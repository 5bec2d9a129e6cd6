/* cmd_config.c - pollux config: every setting, its value, and whence that is. */
#include "commands.h"
#include "pollux/report.h"

static void add_setting(const struct setting *s, const char *value, int line, void *arg)
{
	struct table *t = arg;

	table_text(t, s->name);
	table_text(t, value && *value ? value : "-");
	if (line == CONFIG_BY_VARIABLE)
		table_text(t, s->variable);
	else if (line == CONFIG_BY_DEFAULT)
		table_text(t, "default");
	else
		table_cell(t, "line %d", line);
}

static int main_config(int argc, char **argv, struct err *err)
{
	static const struct table_column columns[] = {
		{ .heading = "SETTING" },
		{ .heading = "VALUE", .flexible = true, .min_width = 8 },
		{ .heading = "FROM" },
	};
	struct output out = output_stdout("auto");
	struct paths paths;
	struct table t;
	int first, rc;

	if (options_parse(&cmd_config, argc, argv, NULL, &first, err))
		return -1;
	if (first < argc)
		return usage_error(&cmd_config, err, "unexpected operand '%s'", argv[first]);
	if (paths_init(&paths, err))
		return -1;
	table_begin(&t, columns);
	rc = config_tell(paths.config, add_setting, &t, err);
	if (rc == 0) {
		output_sayf(out.file, "Lines are those of %s.", paths.config);
		table_print(&t, &out);
	}
	table_release(&t);
	paths_release(&paths);
	return rc ? rc : output_flush(err);
}

const struct command cmd_config = {
	.name = "config", .synopsis = "",
	.summary = "print every setting, its value, and whence that is",
	.example = "pollux config",
	.run = main_config,
};
