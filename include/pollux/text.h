/* text.h - texts: a growing string and a list of strings, UTF-8, numbers and values read from
 * text, the nearest known name, names of signals, words in braces. */
#ifndef POLLUX_TEXT_H
#define POLLUX_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing string, and a list of strings.
 *
 *	struct text t = TEXT_INIT;
 *	text_addf(&t, "%d jobs", n);
 *	fputs(t.data, stdout);
 *	text_release(&t);
 */

struct text {
	char *data;		/* owned; terminated; "" while empty */
	size_t length;		/* bytes before the terminator; the text may hold NUL */
	size_t capacity;
};

extern char text_empty[];
#define TEXT_INIT { .data = text_empty }

void text_init(struct text *t);
void text_release(struct text *t);		/* frees; t is empty and usable afterwards */
void text_clear(struct text *t);		/* keeps the memory */
void text_add(struct text *t, const char *s);
void text_add_bytes(struct text *t, const void *bytes, size_t n);
void text_add_byte(struct text *t, char c, size_t times);
/* Adds the digits of n, at least so many. A pass words a thousand verdicts: this takes a tenth of
 * what printf takes. */
void text_add_digits(struct text *t, int64_t n, int least);
void text_addf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vaddf(struct text *t, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));
char *text_detach(struct text *t);		/* the string, now the caller's; t is empty again */

/* A list of owned strings with a NULL after the last, as execve(2) expects for argv and envp. */
struct strings {
	char **items;		/* owned; NULL while empty */
	size_t count;
	size_t capacity;
};

void strings_init(struct strings *list);
void strings_release(struct strings *list);
void strings_add(struct strings *list, const char *s);			/* copies s */
void strings_addf(struct strings *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool strings_have(const struct strings *list, const char *s);
void strings_add_once(struct strings *list, const char *s);	/* unless the list has s */
/* For environments: replaces the string NAME=..., or appends it. */
void strings_set_variable(struct strings *list, const char *name, const char *value);
/* The value of a variable, or of a parameter: what follows NAME= in its string; NULL: none. */
const char *strings_variable(const struct strings *list, const char *name);
/* Appends all strings, each with its terminator. The store keeps lists in this form. */
void strings_pack(const struct strings *list, struct text *out);
void strings_unpack(struct strings *list, const void *bytes, size_t n);	/* appends */

/* Appends the argument, quoted for sh(1) if sh(1) would change it. */
void text_add_shell_quoted(struct text *t, const char *argument);

bool text_starts_with(const char *s, const char *prefix);
bool text_is_among(const char *s, const char *const *list);	/* the list ends with NULL */

/* "" for 1, else "s": "%lld job%s". */
const char *plural(long long n);

/* A number above 0 for a text. Different texts have the same one with a chance of 1 in 2^62. */
int64_t text_number(const char *s);

/* --- UTF-8 --- */

/* The number of bytes, 1 to 4, of the character that s begins with. 0 if s begins with no valid
 * character: invalid, overlong, a surrogate, or cut short. s is terminated and not empty. */
size_t utf8_length(const char *s);

/* The number of leading bytes, at most n, that form whole valid characters. Reads the byte after
 * them, so s is terminated or longer than n. */
size_t utf8_clip(const char *s, size_t n);

/* The number of characters in the first n bytes: of bytes that do not continue another. */
int utf8_width(const char *s, size_t n);

/* True if the valid character of n bytes at s could change how a line is shown: a control character
 * (C0, DEL or C1), a line separator, or a change of the writing direction. */
bool utf8_is_control(const char *s, size_t n);

/* Writes the character that s begins with as one line of a terminal may show it. What
 * utf8_is_control tells and a byte that is part of no character become \n, \t, \r or octal numbers
 * (\033). Returns the bytes of s that are shown; s is terminated and not empty. */
#define UTF8_SHOWN_SIZE 17
size_t utf8_shown(const char *s, char shown[UTF8_SHOWN_SIZE]);

/* --- numbers --- */

/* Numbers from text, strictly: the whole string, no blanks, nothing clipped.
 *
 * Each function returns 0 and sets *value, or returns -1 with errno and leaves *value unchanged.
 * EINVAL: the text is not such a number. ERANGE: the number does not fit. */

/* Decimal digits with at most a minus sign before them. */
int number_parse_int(const char *text, int64_t *value);

/* Orders doubles for qsort(3), ascending. */
int number_compare(const void *a, const void *b);

/* A decimal number: "3", "-0.5", ".25", "1e6". No hexadecimal, no infinity, no NaN. */
int number_parse(const char *text, double *value);

/* A duration in seconds, >= 0: "90", "90s", "1.5m", "2h", "1d", or a sum with the larger unit
 * first, as tables show it: "3h05m"; or a clock, as Slurm has it: "30:00" (minutes), "2:00:00",
 * "1-12" (days and hours), "1-12:30:00". Slurm's number alone is minutes, here it is seconds. */
int number_parse_duration(const char *text, double *seconds);

/* An amount of memory or disk: a number and K, M, G or T, which are powers of 1024: "1.5G". */
int number_parse_size(const char *text, double *bytes);

/* Measured values of programs, such as a loss: numbers, and what takes the place of a
 * number in a training that diverged (nan, inf, -inf).
 *
 * A value that is not finite is a value like others: it is kept, and shown. It is worse than every
 * number, whether low or high numbers are good. In the store NaN is NULL in a row that a value has
 * made (job_metrics, curve_points, rung_results); infinities are numbers of SQLite's. */

/* Reads what a program printed or reported as a value: a number; nan, inf or infinity in any case
 * and with any sign; a number beyond a double (1e999), which is infinite; any of these as the
 * argument of what prints it, as in "tensor(nan, device='cuda:0')", or before a comma or the full
 * stop of a sentence. Returns false, and leaves *value, for any other text. */
bool value_parse(const char *text, double *value);

/* "nan", "inf" or "-inf"; NULL for a finite value. */
const char *value_word(double value);

/* The value with so many digits, as %g has it, or its word. */
struct value_text {
	char s[32];
};
struct value_text value_format(double value, int digits);

/* Sorts values: negative if a is better than b, positive if it is worse. Values that are not finite
 * are all equal, and worse than every number. */
int value_compare(double a, double b, bool low_is_best);

/* The known name that is nearest to a mistyped name. */
struct suggestion {
	const char *typed;	/* borrowed */
	const char *best;	/* borrowed from an offer; NULL while none is near */
	int distance;		/* edits between typed and best */
};

struct suggestion suggestion_for(const char *typed);

/* Remembers the name if it is nearer than the best so far. A name is near if it differs by at most
 * one edit in three typed characters (one edit is always allowed), or if at least two characters
 * were typed and the name begins with them. Among equally near names the first offer stays. */
void suggestion_offer(struct suggestion *s, const char *name);

/* Insertions, deletions, substitutions and exchanges of neighbours from a to b; -1: one of them is
 * longer than any name. */
int edit_distance(const char *a, const char *b);

/* --- signals by the names that kill(1) knows --- */

#define SIGNAL_NAME_SIZE 24

/* Writes "SIGTERM", "SIGRTMIN+1", or "SIG32" for a signal without a name into buf. Returns buf. */
const char *signal_name(char buf[SIGNAL_NAME_SIZE], int number);

/* Words in braces, in texts that people write: "{job}". Templates of commands
 * (template.h) and parameters of sweeps are such words. One rule holds for both:
 *
 *	{word}		is replaced where the word is known
 *	{{word}}	is {word}, where the word is known
 *	${word}		is a shell's variable, and stays
 *
 * Every other brace stays as it is. A word has letters, digits and '_'. */

struct braces {
	const char *start, *at;		/* of the text; what is left of it */
};

/* A part of a text. The parts of a text, one after the other, are the text. */
struct piece {
	const char *text;
	size_t length;
	const char *word;		/* within the braces; NULL: the part has no word */
	size_t word_length;
	bool doubled;			/* {{word}} */
};

struct braces braces_in(const char *text);
/* Takes the next part. Returns false at the end of the text. */
bool braces_next(struct braces *b, struct piece *piece);
/* True if the text begins with a character of a word. */
bool braces_word_goes_on(const char *text);
bool piece_is(const struct piece *piece, const char *word);

/* Adds a text that stands for itself: its words that are known get a second pair of braces. */
void braces_escape(const char *text, bool (*knows)(const char *word, size_t length),
		   struct text *out);

/* {job} in the name and the checkpoint directory of a job. They know this word alone. */
bool braces_knows_job(const char *word, size_t length);
bool braces_have_job(const char *text);		/* True if one of {job} and {{job}} occurs */
char *braces_put_job(const char *text, int64_t job_id);		/* the caller frees */
/* True if the template makes this name of the number. */
bool braces_name_is(const char *template, int64_t job_id, const char *name);

#endif
