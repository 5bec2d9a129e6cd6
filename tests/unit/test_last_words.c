/* test_last_words.c - the last line of a log that says something. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/local/run_log.h"
#include "tap.h"

static void says(const char *bytes, size_t n, int64_t offset, const char *want, const char *what)
{
	char path[] = "/tmp/pollux-words.XXXXXX";
	int fd = mkstemp(path);
	char *got;

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	close(fd);
	got = last_words(path, offset);
	unlink(path);
	is_str(got ? got : "(none)", want, what);
	free(got);
}

#define SAYS(bytes, offset, want, what) says(bytes, sizeof(bytes) - 1, offset, want, what)

int main(void)
{
	char flood[20000], want[LAST_WORDS_SIZE] = "";

	SAYS("", 0, "(none)", "an empty log has no last words");
	SAYS("\n \n", 0, "(none)", "a blank log has no last words");
	SAYS("Traceback:\n  ValueError: too large\n\n", 0, "ValueError: too large",
	     "the last words are the last line that is not blank");
	SAYS("one\ntwo", 0, "two", "the last words may be a line without an end");
	SAYS("10%|#   |\r100%|####|\r\n", 0, "100%|####|",
	     "the last words of a bar are what stands of it");
	SAYS("before\nafter\n", 7, "after", "the last words are those of this run");
	SAYS("before\n", 7, "(none)", "the last words of another run do not count");
	SAYS("shorter\n", 99, "shorter", "a log that was begun anew has last words");
	SAYS("caf\xc3\xa9 \xff broken\n", 0, "caf\xc3\xa9 ",
	     "the last words end where they are no text");
	SAYS("RuntimeError: CUDA error: invalid device ordinal\n"
	     "GPU device may be out of range, do you have enough GPUs?\n"
	     "CUDA kernel errors might be asynchronously reported at some other API call, so\n"
	     "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
	     "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n\n", 0,
	     "RuntimeError: CUDA error: invalid device ordinal",
	     "the last words are not what PyTorch adds to CUDA's errors");
	SAYS("[rank1]: torch.AcceleratorError: CUDA error: misaligned address\n"
	     "[rank1]: Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n", 0,
	     "[rank1]: torch.AcceleratorError: CUDA error: misaligned address",
	     "words that PyTorch adds behind a rank do not count");
	SAYS("Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n", 0, "(none)",
	     "words that PyTorch adds alone are no last words");
	SAYS("I say: Compile with `TORCH_USE_CUDA_DSA`\n", 0,
	     "I say: Compile with `TORCH_USE_CUDA_DSA`",
	     "a program's own words that look alike are last words");
	memset(flood, 'x', sizeof(flood));
	memset(want, 'x', sizeof(want) - 1);
	says(flood, sizeof(flood), 0, want, "the last words of a long line are its beginning");
	says(want, sizeof(want) - 1, 0, want, "a line that just fits is whole");
	return done();
}
