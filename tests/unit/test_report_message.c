/* test_report_message.c - what jobs report: every key, and everything that is not a report. */
#include "pollux/mem.h"
#include "pollux/report_message.h"
#include "pollux/text.h"
#include "tap.h"

static struct report_message m;

static int parse(const char *text)
{
	return report_message_parse(text, strlen(text), &m);
}

static bool is_blank(void)
{
	return m.step == -1 && m.samples == -1 && m.step_ns == -1 && m.sync_ns == -1 &&
	       m.config == -1 && m.parameters == -1 &&
	       isnan(m.grad_sqr) && isnan(m.grad_var) && !m.loss.given && isnan(m.epoch) &&
	       !m.checkpoint[0] && !m.status[0] && !m.wake && m.total_steps == -1 &&
	       m.total_samples == -1 && isnan(m.total_epochs) && !m.resumed[0] &&
	       m.grad_samples == -1 && m.peak_bytes == -1 && m.out_of_memory == -1 &&
	       m.limit_bytes == -1 && !m.framework[0] && !m.helper.given;
}

static void test_keys(void)
{
	is_int(parse("STEP=12\nSAMPLES=1536\nSTEP_NS=1500000\nSYNC_NS=200\nGRAD_SQR=-1e-3\n"
		     "GRAD_VAR=2.5\nLOSS=0.31\nEPOCH=1.5\nCHECKPOINT=/a b/c=d.pt\n"
		     "STATUS=accuracy = 0.88\nCONFIG=3\nPARAMETERS=124439808\n"), 0, "every key");
	is_int(m.parameters, 124439808, "PARAMETERS");
	is_int(m.config, 3, "CONFIG");
	is_int(m.step, 12, "STEP");
	is_int(m.samples, 1536, "SAMPLES");
	is_int(m.step_ns, 1500000, "STEP_NS");
	is_int(m.sync_ns, 200, "SYNC_NS");
	near(m.grad_sqr, -1e-3, 0, "GRAD_SQR, which may be negative");
	near(m.grad_var, 2.5, 0, "GRAD_VAR");
	near(m.loss.value, 0.31, 0, "LOSS");
	near(m.epoch, 1.5, 0, "EPOCH");
	is_str(m.checkpoint, "/a b/c=d.pt", "CHECKPOINT, with a blank and an equals sign");
	is_str(m.status, "accuracy = 0.88", "STATUS");
	ok(!m.wake, "and no WAKE");
	is_int(parse("WAKE=1"), 0, "WAKE");
	ok(m.wake, "is understood, without a newline too");
	is_int(m.step, -1, "nothing is left of the message before");
	is_int(parse("STEP=1\nSTEP=2\n"), 0, "a key twice");
	is_int(m.step, 2, "the last one counts");
	is_int(parse("\n\nSTEP=3\n\n"), 0, "empty lines");
	is_int(m.step, 3, "are passed over");
	is_int(parse("COLOUR=red\nSTEP=4\n"), 0, "an unknown key");
	is_int(m.step, 4, "is passed over");
	is_int(parse("STEP=999999999999999999\n"), 0, "18 digits");
	is_int(m.step, 999999999999999999LL, "fit");
	is_int(parse("STATUS=\n"), 0, "an empty status");
	is_int(parse("LOSS=-3\n"), 0, "a negative loss");
}

static void test_helper_keys(void)
{
	is_int(parse("TOTAL_STEPS=500\nTOTAL_SAMPLES=32000\nTOTAL_EPOCHS=2.5\nRESUMED=/a/b.pt\n"
		     "GRAD_SAMPLES=4\nPEAK_BYTES=21474836480\nOUT_OF_MEMORY=0\n"
		     "LIMIT_BYTES=25769803776\nFRAMEWORK=torch 2.15.0\nHELPER=\n"), 0,
	       "the keys of the helper for PyTorch");
	ok(m.total_steps == 500 && m.total_samples == 32000, "TOTAL_STEPS, TOTAL_SAMPLES");
	near(m.total_epochs, 2.5, 0, "TOTAL_EPOCHS");
	is_str(m.resumed, "/a/b.pt", "RESUMED");
	is_int(m.grad_samples, 4, "GRAD_SAMPLES");
	ok(m.peak_bytes == 21474836480 && m.limit_bytes == 25769803776, "PEAK_BYTES, LIMIT_BYTES");
	is_int(m.out_of_memory, 0, "OUT_OF_MEMORY, of unknown size");
	is_str(m.framework, "torch 2.15.0", "FRAMEWORK");
	ok(m.helper.given && !*m.helper.text, "an empty HELPER says something too");
	is_int(parse("HELPER=no gradient noise: torch.compile\n"), 0, "HELPER with a reason");
	is_str(m.helper.text, "no gradient noise: torch.compile", "is kept");
	is_int(parse("RESUMES=2\n"), 0, "RESUMES");
	is_int(m.resumes, 2, "is kept");
	is_int(m.ended, -1, "nothing is said of the end");
	is_int(parse("ENDED=1\n"), 0, "ENDED");
	is_int(m.ended, 1, "is kept");
}

static void test_metrics(void)
{
	struct text many = TEXT_INIT;

	is_int(parse("METRIC.acc=0.9\nSTEP=1\nMETRIC.val/loss=-3e2\nMETRIC.acc=0.95\n"), 0,
	       "metrics");
	is_int(m.n_metrics, 2, "two names");
	is_str(m.metrics[0].name, "acc", "the first one");
	near(m.metrics[0].value, 0.95, 0, "has its last value");
	is_str(m.metrics[1].name, "val/loss", "a name with a slash");
	near(m.metrics[1].value, -300, 0, "its value");
	for (int i = 0; i < REPORT_METRICS_MAX + 3; i++)
		text_addf(&many, "METRIC.m%d=%d\n", i, i);
	is_int(parse(many.data), 0, "more names than are kept");
	is_int(m.n_metrics, REPORT_METRICS_MAX, "are passed over");
	text_release(&many);
}

/* A value that is not finite is kept; an estimate that is not is left unknown. */
static void test_not_finite(void)
{
	static const struct {
		const char *text;
		double want;
	} values[] = {
		{ "nan", NAN }, { "NaN", NAN }, { "-nan", NAN }, { "NAN", NAN },
		{ "tensor(nan)", NAN },
		{ "inf", INFINITY }, { "Infinity", INFINITY }, { "1e999", INFINITY },
		{ "-inf", -INFINITY }, { "-1e999", -INFINITY },
		{ "tensor(0.5, device='cuda:0')", 0.5 },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char *text = xasprintf("LOSS=%s\nMETRIC.a=%s\nSTEP=7\n", values[i].text,
				       values[i].text);

		is_int(parse(text), 0, text);
		ok(m.loss.given && (m.loss.value == values[i].want ||
				    (isnan(m.loss.value) && isnan(values[i].want))), "is the loss");
		ok(m.n_metrics == 1 && (m.metrics[0].value == values[i].want ||
					(isnan(m.metrics[0].value) && isnan(values[i].want))),
		   "and a metric");
		is_int(m.step, 7, "and hinders nothing else");
		free(text);
	}
	is_int(parse("GRAD_SQR=nan\nGRAD_VAR=inf\nSTEP=1\n"), 0, "estimates that overflowed");
	ok(isnan(m.grad_sqr) && isnan(m.grad_var) && m.step == 1, "are not known");
}

static const char *const bad[] = {
	"STEP=", "STEP=-1", "STEP=+1", "STEP= 1", "STEP=1 ", "STEP=1.5", "STEP=1e3", "STEP=0x10",
	"STEP=1000000000000000000", "STEP=99999999999999999999999", "STEP=nan", "SAMPLES=x",
	"LOSS=", "LOSS=nano", "LOSS=info", "LOSS=1,5", "LOSS= 1",
	"LOSS=1 ", "LOSS=0.3x", "EPOCH=-1", "EPOCH=-0.5", "GRAD_SQR=NaNs", "CONFIG=", "CONFIG=-1",
	"TOTAL_STEPS=-1", "TOTAL_SAMPLES=1.5", "TOTAL_EPOCHS=-1", "RESUMED=", "GRAD_SAMPLES=x",
	"OUT_OF_MEMORY=1GiB", "PEAK_BYTES=", "LIMIT_BYTES=-1", "PARAMETERS=124M",
	"CHECKPOINT=", "WAKE=0", "WAKE=11",
	"METRIC.=1", "METRIC.a=", "METRIC.a b=1", "METRIC.\xc3\xa9=1", "RESUMES=-1",
	"METRIC.0123456789012345678901234567890123456789012345678901234567890123=1", "METRIC.a=0x",
	"WAKE=", "STEP", "=1", "=", "no report at all", "step", "\x1b[31mred",
};

static void test_bad(void)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		is_int(parse(bad[i]), 1, bad[i]);
		ok(is_blank(), "sets nothing");
		ok(!report_line_is_valid(bad[i]), "and 'pollux report' refuses it");
	}
	is_int(parse("STEP=x\nSAMPLES=7\nLOSS=y\n"), 2, "bad lines among good ones are counted");
	is_int(m.samples, 7, "and the good ones are taken");
	is_int(parse(""), 1, "an empty message is malformed");
	is_int(parse("\n\n"), 1, "and one of empty lines");
}

/* The beginning, then 'x' to the end; no terminator. */
static void begin_with(char *bytes, size_t n, const char *beginning)
{
	memset(bytes, 'x', n);
	for (size_t i = 0; beginning[i]; i++)
		bytes[i] = beginning[i];
}

static void test_bytes(void)
{
	char long_message[REPORT_MESSAGE_SIZE];
	static const char with_nul[] = "STEP=1\0\nSAMPLES=2\n";
	static const char nul_in_key[] = "ST\0EP=1\nSAMPLES=2\n";

	is_int(report_message_parse(with_nul, sizeof(with_nul) - 1, &m), 1, "a NUL in a value");
	ok(m.step == -1 && m.samples == 2, "spoils its line only");
	is_int(report_message_parse(nul_in_key, sizeof(nul_in_key) - 1, &m), 1, "a NUL in a key");
	ok(m.step == -1 && m.samples == 2, "too");
	is_int(parse("STATUS=a\tb\x1b[31mc\x7f" "d\r"), 0, "control characters in a status");
	is_str(m.status, "a?b?[31mc?d?", "are made visible");
	is_int(parse("STATUS=\xff\xfe caf\xc3\xa9"), 0, "a status of any bytes");

	begin_with(long_message, sizeof(long_message), "STATUS=");
	is_int(report_message_parse(long_message, PATH_MAX, &m), 0, "a status of 4000 characters");
	is_int((long long)strlen(m.status), REPORT_STATUS_SIZE - 1, "is clipped");
	begin_with(long_message, sizeof(long_message), "CHECKPOINT=");
	is_int(report_message_parse(long_message, 11 + PATH_MAX - 1, &m), 0,
	       "a path of PATH_MAX - 1 bytes");
	is_int((long long)strlen(m.checkpoint), PATH_MAX - 1, "is whole");
	is_int(report_message_parse(long_message, 11 + PATH_MAX, &m), 1, "one byte more");
	is_str(m.checkpoint, "", "is not a path");
	memset(long_message, '\n', sizeof(long_message));
	is_int(report_message_parse(long_message, sizeof(long_message), &m), 1, "8192 newlines");
	memset(long_message, 0, sizeof(long_message));
	is_int(report_message_parse(long_message, sizeof(long_message), &m), 1, "8192 zeros");
	ok(is_blank(), "say nothing");
}

static void test_lines(void)
{
	ok(report_line_is_valid("STEP=1"), "a line");
	ok(report_line_is_valid("STATUS=two words"), "one with a blank");
	ok(!report_line_is_valid("STEP=1\nSTEP=2"), "two lines are not one");
	ok(!report_line_is_valid("COLOUR=red"), "an unknown key is refused to a person");
	ok(!report_line_is_valid(""), "nothing");
}

int main(void)
{
	test_keys();
	test_helper_keys();
	test_metrics();
	test_not_finite();
	test_bad();
	test_bytes();
	test_lines();
	return done();
}
