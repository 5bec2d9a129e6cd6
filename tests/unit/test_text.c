/* test_text.c - growing strings, argument lists, their packed form, and quoting for the shell. */
#include "pollux/mem.h"
#include "pollux/text.h"
#include "tap.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_text(void)
{
	struct text t = TEXT_INIT;
	char *s;

	is_str(t.data, "", "an empty text is a string");
	text_release(&t);
	is_str(t.data, "", "a released text is an empty string");
	text_add(&t, "ab");
	text_add_bytes(&t, "c\0d", 3);
	is_int((long long)t.length, 5, "a text takes bytes that are NUL");
	ok(memcmp(t.data, "abc\0d", 6) == 0, "a text with a NUL ends with a terminator");
	text_clear(&t);
	is_str(t.data, "", "a cleared text is empty");
	text_addf(&t, "%d-%s", 7, "x");
	text_addf(&t, "%s", "");
	is_str(t.data, "7-x", "a text takes formatted words");
	s = text_detach(&t);
	is_str(s, "7-x", "a detached text is what was added");
	is_str(t.data, "", "a detached text leaves an empty one behind");
	free(s);
	s = text_detach(&t);
	is_str(s, "", "an empty text can be detached");
	free(s);
	text_release(&t);
}

static void test_growth(void)
{
	scoped(text_release) struct text t = TEXT_INIT;
	bool right = true;

	for (int i = 0; i < 10000; i++)
		text_addf(&t, "%04d,", i);
	is_int((long long)t.length, 50000, "ten thousand additions have their length");
	for (int i = 0; i < 10000; i++)
		right = right && strtol(t.data + 5 * (size_t)i, NULL, 10) == i;
	ok(right, "ten thousand additions are all there");
}

/* Whatever room is left: none, just enough, one byte too few. */
static void test_fit(void)
{
	bool right = true;

	for (int before = 0; before < 200; before++) {
		for (int n = 0; n < 200; n++) {
			scoped(text_release) struct text t = TEXT_INIT;

			text_add_byte(&t, 'a', (size_t)before);
			text_addf(&t, "%0*d", n, 7);
			right = right && (int)t.length == before + (n ? n : 1) &&
				strlen(t.data) == t.length && t.data[t.length - 1] == '7' &&
				strspn(t.data, "a") == (size_t)before;
		}
	}
	ok(right, "words are formatted into whatever room is left");
}

static void test_strings(void)
{
	struct strings list;
	bool ended = true;

	strings_init(&list);
	ok(!list.items && !list.count, "a new list is empty");
	strings_add(&list, "a");
	strings_addf(&list, "%s=%d", "b", 2);
	is_str(list.items[1], "b=2", "a list takes a formatted string");
	for (int i = 0; i < 100; i++) {
		strings_add(&list, "x");
		ended = ended && !list.items[list.count];
	}
	ok(ended, "a NULL follows the last string at every length");
	is_int((long long)list.count, 102, "a list counts its strings");
	strings_release(&list);
	ok(!list.items && !list.count, "a released list is empty");
}

static void test_variables(void)
{
	scoped(strings_release) struct strings env = { 0 };

	strings_init(&env);
	strings_set_variable(&env, "PATH", "/bin");
	strings_set_variable(&env, "PATHS", "a");
	strings_set_variable(&env, "PATH", "/usr/bin");
	strings_set_variable(&env, "PAT", "");
	is_int((long long)env.count, 3, "a variable set twice is there once");
	is_str(env.items[0], "PATH=/usr/bin", "a variable set twice has its last value");
	is_str(env.items[1], "PATHS=a", "a variable with a longer name is another one");
	is_str(env.items[2], "PAT=", "a variable with a shorter name is another one");
}

static void test_pack(void)
{
	scoped(strings_release) struct strings list = { 0 }, back = { 0 };
	scoped(text_release) struct text packed = TEXT_INIT;

	strings_init(&list);
	strings_init(&back);
	strings_add(&list, "prog");
	strings_add(&list, "");
	strings_add(&list, "a b\n\xff");
	strings_pack(&list, &packed);
	is_int((long long)packed.length, 4 + 1 + 1 + 5 + 1,
	       "a packed list has each string with its terminator");
	ok(memcmp(packed.data, "prog\0\0a b\n\xff", packed.length) == 0,
	   "a packed list has one string after the other");
	strings_unpack(&back, packed.data, packed.length);
	is_int((long long)back.count, 3, "a packed list is unpacked with all strings");
	is_str(back.items[0], "prog", "the first string of a packed list comes back");
	is_str(back.items[1], "", "an empty string of a packed list comes back");
	is_str(back.items[2], "a b\n\xff", "every byte of a packed string comes back");
	strings_unpack(&back, "cut", 3);
	is_str(back.items[3], "cut", "a packed string without a terminator ends with the bytes");
	strings_unpack(&back, NULL, 0);
	is_int((long long)back.count, 4, "an empty pack adds no string");
}

static void test_quoting(void)
{
	static const struct { const char *in, *out; } cases[] = {
		{ "plain-1.2_x,/:@%+=", "plain-1.2_x,/:@%+=" },
		{ "{batch}", "{batch}" },
		{ "", "''" },
		{ "a b", "'a b'" },
		{ "it's", "'it'\\''s'" },
		{ "'", "''\\'''" },
		{ "$HOME", "'$HOME'" },
		{ "a\nb", "'a\nb'" },
		{ "~", "'~'" },
		{ "*;&|<>()`\"\\!#", "'*;&|<>()`\"\\!#'" },
	};
	scoped(text_release) struct text t = TEXT_INIT;

	for (size_t i = 0; i < COUNT(cases); i++) {
		text_clear(&t);
		text_add_shell_quoted(&t, cases[i].in);
		is_str(t.data, cases[i].out,
		       "a word is quoted only where the shell would see more in it");
	}
	ok(text_starts_with("status", "stat"), "a text starts with its beginning");
	ok(text_starts_with("status", ""), "a text starts with nothing");
	ok(!text_starts_with("stat", "status"), "a text does not start with a longer one");
}

/* The real shell reads back what was quoted. */
static void test_quoting_by_shell(void)
{
	static const char nasty[] = "a 'b' \"c\" $d `e` \\f *g? ~h #i !j {k,l} ;m&n|o<p>q(r)\ts"
		"\033]0;t\a1\302\2331m\1772";
	scoped(text_release) struct text command = TEXT_INIT;
	char back[sizeof(nasty) + 8] = "";
	FILE *shell;
	size_t n;

	text_add(&command, "printf %s ");
	text_add_shell_quoted(&command, nasty);
	ok(!strpbrk(command.data, "\033\a\302\177"), "a quoted word shows no control character");
	shell = popen(command.data, "r");
	if (ok(shell != NULL, "the test starts a shell")) {
		n = fread(back, 1, sizeof(back) - 1, shell);
		back[n] = '\0';
		pclose(shell);
		is_str(back, nasty, "a shell reads a quoted word as it was");
	}
}

int main(void)
{
	test_text();
	test_growth();
	test_fit();
	test_strings();
	test_variables();
	test_pack();
	test_quoting();
	test_quoting_by_shell();
	return done();
}
