/* text.h - a growing string, and a list of strings.
 *
 *	struct text t = TEXT_INIT;
 *	text_addf(&t, "%d jobs", n);
 *	fputs(t.data, stdout);
 *	text_release(&t);
 */
#ifndef POLLUX_TEXT_H
#define POLLUX_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

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
/* For environments: replaces the string NAME=..., or appends it. */
void strings_set_variable(struct strings *list, const char *name, const char *value);
/* Appends all strings, each with its terminator. The store keeps lists in this form. */
void strings_pack(const struct strings *list, struct text *out);
void strings_unpack(struct strings *list, const void *bytes, size_t n);	/* appends */

/* Appends the argument, quoted for sh(1) if sh(1) would change it. */
void text_add_shell_quoted(struct text *t, const char *argument);

bool text_starts_with(const char *s, const char *prefix);

/* "" for 1, else "s": "%lld job%s". */
const char *plural(long long n);

#endif
