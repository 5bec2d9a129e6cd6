/* test_value.c - what is read as a measured value, how it is shown, and which is better. */
#include <math.h>

#include "pollux/text.h"
#include "tap.h"

static const struct {
	const char *text, *want;	/* want: as it is shown; "": no value */
} texts[] = {
	{ "0.5", "0.5" }, { "-3", "-3" }, { "+3", "3" }, { "1e-3", "0.001" }, { ".25", "0.25" },
	{ "5.", "5" }, { "0.5,", "0.5" }, { "0.5)", "0.5" }, { "1;", "1" },
	{ "nan", "nan" }, { "NaN", "nan" }, { "NAN", "nan" }, { "-nan", "nan" }, { "nan.", "nan" },
	{ "nan,", "nan" }, { "nan(0x1)", "nan" }, { "tensor(nan)", "nan" },
	{ "tensor(nan, device='cuda:0', grad_fn=<MulBackward0>)", "nan" }, { "tensor(nan,", "nan" },
	{ "np.float64(nan)", "nan" }, { "array(-inf, dtype=float32)", "-inf" },
	{ "torch.tensor(0.25)", "0.25" },
	{ "inf", "inf" }, { "Inf", "inf" }, { "INF", "inf" }, { "infinity", "inf" },
	{ "Infinity", "inf" }, { "-inf", "-inf" }, { "-Infinity", "-inf" }, { "inf.", "inf" },
	{ "1e999", "inf" }, { "-1e999", "-inf" }, { "1e-999", "0" },
	{ "", "" }, { " 1", "" }, { "1 ", "" }, { "1x", "" }, { "1,5", "" }, { "1.2.3", "" },
	{ "nano", "" }, { "nan nan", "" }, { "info", "" }, { "None", "" }, { "-", "" }, { ".", "" },
	{ "e5", "" }, { "tensor()", "" }, { "tensor(x)", "" }, { "tensor(1", "" }, { "(1)", "" },
	{ "tensor( 1)", "" }, { "12%", "" }, { "abc", "" },
};

static void test_parse(void)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		double value = 77;
		bool is = value_parse(texts[i].text, &value);

		is_str(is ? value_format(value, 6).s : "", texts[i].want, texts[i].text);
		ok(is || (value >= 77 && value <= 77),
		   "a text that is no value leaves the variable");
	}
}

static void test_compare(void)
{
	const double bad[] = { (double)NAN, -(double)NAN, (double)INFINITY, -(double)INFINITY };

	for (int low = 0; low < 2; low++)
		for (int i = 0; i < 4; i++) {
			ok(value_compare(1e300, bad[i], low) < 0 &&
			   value_compare(bad[i], -1e300, low) > 0,
			   "a value that is not finite is worse than every number");
			is_int(value_compare(bad[i], bad[(i + 1) % 4], low), 0,
			       "values that are not finite are equal to each other");
		}
	ok(value_compare(1, 2, true) < 0 && value_compare(1, 2, false) > 0,
	   "numbers compare by whether low or high is best");
	is_int(value_compare(2, 2, false), 0, "equal numbers are equal");
}

int main(void)
{
	test_parse();
	test_compare();
	is_str(value_word(-(double)NAN), "nan", "the word of NaN has no sign");
	ok(!value_word(0) && !value_word(1e308), "a number has no word");
	return done();
}
