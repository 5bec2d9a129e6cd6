/* test_epochs_option.c - the number of epochs in a command. */
#include <math.h>

#include "engine/local/run_log.h"
#include "tap.h"
#include "pollux/mem.h"

static double epochs_of(const char *a, const char *b, const char *c)
{
	scoped(strings_release) struct strings argv = { 0 };

	strings_add(&argv, "python");
	strings_add(&argv, a);
	if (b)
		strings_add(&argv, b);
	if (c)
		strings_add(&argv, c);
	return epochs_of_command(&argv);
}

int main(void)
{
	near(epochs_of("--epochs", "90", "x"), 90, 0, "epochs are read from a word of their own");
	near(epochs_of("--num-train-epochs=3.5", NULL, NULL), 3.5, 0,
	     "epochs are read behind an equals sign");
	near(epochs_of("--trainer.max_epochs", "10", NULL), 10, 0,
	     "epochs are read from an option of LightningCLI");
	near(epochs_of("trainer.max_epochs=10", "x", NULL), 10, 0,
	     "epochs are read from a setting of Hydra");
	near(epochs_of("+epochs=7", NULL, NULL), 7, 0,
	     "epochs are read from a setting added by Hydra");
	near(epochs_of("--epochs", "5", "--max_epochs=5"), 5, 0,
	     "epochs are read that are there twice and equal");
	ok(isnan(epochs_of("--epochs", "5", "--max_epochs=6")),
	   "epochs are unknown if two of them differ");
	ok(isnan(epochs_of("--epochs", "many", NULL)), "epochs are unknown without a number");
	ok(isnan(epochs_of("--epochs", NULL, NULL)),
	   "epochs are unknown with nothing behind the option");
	ok(isnan(epochs_of("epochs", "5", NULL)), "epochs are unknown from a word without dashes");
	ok(isnan(epochs_of("--save-epochs", "5", NULL)), "epochs are unknown from another option");
	ok(isnan(epochs_of("epochs=0.1,0.2", NULL, NULL)),
	   "epochs are unknown from a sweep of Hydra");
	return done();
}
