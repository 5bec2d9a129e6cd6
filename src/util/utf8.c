/* utf8.c - well-formed byte sequences, after table 3-7 of the Unicode standard. */
#include "pollux/utf8.h"

/* The ranges of first and second bytes. The second range is narrower after some first bytes, which
 * excludes overlong forms, surrogates, and code points above U+10FFFF. */
static const struct form {
	unsigned char first_low, first_high, second_low, second_high;
	size_t length;
} forms[] = {
	{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
	{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 },
	{ 0xed, 0xed, 0x80, 0x9f, 3 },
	{ 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
	{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
	{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

static size_t check_form(const struct form *form, const unsigned char *u)
{
	if (u[1] < form->second_low || u[1] > form->second_high)
		return 0;
	for (size_t i = 2; i < form->length; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	return form->length;
}

size_t utf8_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;

	if (u[0] < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (u[0] >= forms[i].first_low && u[0] <= forms[i].first_high)
			return check_form(&forms[i], u);
	return 0;
}

size_t utf8_clip(const char *s, size_t n)
{
	size_t kept = 0, length;

	while (kept < n && s[kept] && (length = utf8_length(s + kept)) > 0 && kept + length <= n)
		kept += length;
	return kept;
}

int utf8_width(const char *s, size_t n)
{
	int width = 0;

	for (size_t i = 0; i < n; i++)
		width += ((unsigned char)s[i] & 0xc0) != 0x80;
	return width;
}

bool utf8_is_control(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;

	if (n == 1)
		return u[0] < 0x20 || u[0] == 0x7f;
	if (n == 2)
		return u[0] == 0xc2 && u[1] < 0xa0;
	/* U+2028 to U+202E: line separators, embeddings, overrides; U+2066 to U+2069: isolates. */
	return n == 3 && u[0] == 0xe2 && ((u[1] == 0x80 && u[2] >= 0xa8 && u[2] <= 0xae) ||
					  (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9));
}
