/* test_nothing_left.c - sentences of programs whose training is over. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/local/run_log.h"
#include "tap.h"

static void says(const char *text, int64_t offset, const char *want, const char *what)
{
	char path[] = "/tmp/pollux-left.XXXXXX";
	int fd = mkstemp(path);
	char *got;

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
	got = nothing_left_words(path, offset);
	unlink(path);
	is_str(got ? got : "(none)", want, what);
	free(got);
}

int main(void)
{
	char flood[20000], line[400], want[LAST_WORDS_SIZE];

	says("Traceback:\n  assert\nAssertionError: last.pt training to 300 epochs is finished, "
	     "nothing to resume.\nStart a new training\n", 0,
	     "AssertionError: last.pt training to 300 epochs is finished, nothing to resume.",
	     "the words of Ultralytics are found");
	says("ValueError: The max_duration (2ep) is less than or equal to the elapsed training "
	     "duration (2ep). No training would occur.\n", 0,
	     "ValueError: The max_duration (2ep) is less than or equal to the elapsed training "
	     "duration (2ep). No training would occur.", "the words of Composer are found");
	says("AssertionError: max_train_steps should be greater than initial step: 10 vs 10\r\n", 0,
	     "AssertionError: max_train_steps should be greater than initial step: 10 vs 10",
	     "the words of kohya are found");
	says("X: You restored a checkpoint with current_epoch=3, but you have set "
	     "Trainer(max_epochs=2).", 0,
	     "X: You restored a checkpoint with current_epoch=3, but you have set "
	     "Trainer(max_epochs=2).", "the words of Lightning are found");
	says("  TRAINING ALREADY FINISHED (20)\n", 0, "TRAINING ALREADY FINISHED (20)",
	     "words in capitals are found");
	says("Error: The model has already been trained for 20 epochs.\n", 0,
	     "Error: The model has already been trained for 20 epochs.",
	     "the words of a script are found");
	says("ValueError: starting epoch (20) is greater than or equal to total epochs (20)\n", 0,
	     "ValueError: starting epoch (20) is greater than or equal to total epochs (20)",
	     "the words of another script are found");
	says("No more epochs to train\n", 0, "No more epochs to train",
	     "the words of a third script are found");
	says("FileNotFoundError: nothing found in data/\n", 0, "(none)",
	     "words about missing data are not found");
	says("", 0, "(none)", "an empty log has no words");
	says("KeyError: 'optimizer'\ntraining finished\n", 0, "(none)",
	     "an error before such words hides them");
	says("nothing to resume\nKeyError\n", 18, "(none)",
	     "words of the run before are not found");
	memset(flood, 'x', sizeof(flood) - 1);
	memcpy(flood, "nothing to resume\n", 18);
	flood[sizeof(flood) - 1] = '\0';
	says(flood, 0, "(none)", "words that are far from the end are not found");
	memset(line, 'y', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	memcpy(line + 300, "nothing to resume", 17);
	memcpy(want, line, sizeof(want) - 1);
	want[sizeof(want) - 1] = '\0';
	says(line, 0, want, "a long line is clipped");
	is_str(nothing_left_words("/no/such/log", 0) ? "words" : "(none)", "(none)",
	       "a log that is not there has no words");
	return done();
}
