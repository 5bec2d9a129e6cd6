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
		     "STATUS=accuracy = 0.88\nCONFIG=3\nPARAMETERS=124439808\n"), 0,
	       "a message with every key is read");
	is_int(m.parameters, 124439808, "PARAMETERS is read");
	is_int(m.config, 3, "CONFIG is read");
	is_int(m.step, 12, "STEP is read");
	is_int(m.samples, 1536, "SAMPLES is read");
	is_int(m.step_ns, 1500000, "STEP_NS is read");
	is_int(m.sync_ns, 200, "SYNC_NS is read");
	near(m.grad_sqr, -1e-3, 0, "a negative GRAD_SQR is read");
	near(m.grad_var, 2.5, 0, "GRAD_VAR is read");
	near(m.loss.value, 0.31, 0, "LOSS is read");
	near(m.epoch, 1.5, 0, "EPOCH is read");
	is_str(m.checkpoint, "/a b/c=d.pt", "CHECKPOINT with a blank and an equals sign is read");
	is_str(m.status, "accuracy = 0.88", "STATUS is read");
	ok(!m.wake, "WAKE is not set without its key");
	is_int(parse("WAKE=1"), 0, "a message of WAKE without a newline is read");
	ok(m.wake, "WAKE is set by a message without a newline");
	is_int(m.step, -1, "a message leaves nothing of the one before");
	is_int(parse("STEP=1\nSTEP=2\n"), 0, "a message with a key twice is read");
	is_int(m.step, 2, "the last one of two equal keys counts");
	is_int(parse("\n\nSTEP=3\n\n"), 0, "a message with empty lines is read");
	is_int(m.step, 3, "a key between empty lines is read");
	is_int(parse("COLOUR=red\nSTEP=4\n"), 0, "a message with an unknown key is read");
	is_int(m.step, 4, "a key after an unknown one is read");
	is_int(parse("STEP=999999999999999999\n"), 0, "a number of 18 digits is accepted");
	is_int(m.step, 999999999999999999LL, "a number of 18 digits is read");
	is_int(parse("STATUS=\n"), 0, "an empty status is read");
	is_int(parse("LOSS=-3\n"), 0, "a negative loss is read");
}

static void test_helper_keys(void)
{
	is_int(parse("TOTAL_STEPS=500\nTOTAL_SAMPLES=32000\nTOTAL_EPOCHS=2.5\nRESUMED=/a/b.pt\n"
		     "GRAD_SAMPLES=4\nPEAK_BYTES=21474836480\nOUT_OF_MEMORY=0\n"
		     "LIMIT_BYTES=25769803776\nFRAMEWORK=torch 2.15.0\nHELPER=\n"), 0,
	       "a message of the helper for PyTorch is read");
	ok(m.total_steps == 500 && m.total_samples == 32000,
	   "TOTAL_STEPS and TOTAL_SAMPLES are read");
	near(m.total_epochs, 2.5, 0, "TOTAL_EPOCHS is read");
	is_str(m.resumed, "/a/b.pt", "RESUMED is read");
	is_int(m.grad_samples, 4, "GRAD_SAMPLES is read");
	ok(m.peak_bytes == 21474836480 && m.limit_bytes == 25769803776,
	   "PEAK_BYTES and LIMIT_BYTES are read");
	is_int(m.out_of_memory, 0, "OUT_OF_MEMORY of unknown size is read");
	is_str(m.framework, "torch 2.15.0", "FRAMEWORK is read");
	ok(m.helper.given && !*m.helper.text, "an empty HELPER counts as given");
	is_int(parse("HELPER=no gradient noise: torch.compile\n"), 0,
	       "a HELPER with a reason is accepted");
	is_str(m.helper.text, "no gradient noise: torch.compile", "the reason of HELPER is kept");
	is_int(parse("RESUMES=2\n"), 0, "RESUMES is accepted");
	is_int(m.resumes, 2, "RESUMES is kept");
	is_int(m.ended, -1, "ENDED is unknown without its key");
	is_int(parse("ENDED=1\n"), 0, "ENDED is accepted");
	is_int(m.ended, 1, "ENDED is kept");
}

static void test_metrics(void)
{
	scoped(text_release) struct text many = TEXT_INIT;

	is_int(parse("METRIC.acc=0.9\nSTEP=1\nMETRIC.val/loss=-3e2\nMETRIC.acc=0.95\n"), 0,
	       "a message of metrics is read");
	is_int(m.n_metrics, 2, "a metric that is there twice counts once");
	is_str(m.metrics[0].name, "acc", "the first metric keeps its name");
	near(m.metrics[0].value, 0.95, 0, "a metric that is there twice has its last value");
	is_str(m.metrics[1].name, "val/loss", "a metric keeps a name with a slash");
	near(m.metrics[1].value, -300, 0, "a metric with a slash in its name has its value");
	for (int i = 0; i < REPORT_METRICS_MAX + 3; i++)
		text_addf(&many, "METRIC.m%d=%d\n", i, i);
	is_int(parse(many.data), 0, "a message of more metrics than are kept is read");
	is_int(m.n_metrics, REPORT_METRICS_MAX, "metrics beyond the most are passed over");
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
		autofree char *text = xasprintf("LOSS=%s\nMETRIC.a=%s\nSTEP=7\n", values[i].text,
				       values[i].text);

		is_int(parse(text), 0, text);
		ok(m.loss.given && (m.loss.value == values[i].want ||
				    (isnan(m.loss.value) && isnan(values[i].want))),
		   "a value of this text is kept as the loss");
		ok(m.n_metrics == 1 && (m.metrics[0].value == values[i].want ||
					(isnan(m.metrics[0].value) && isnan(values[i].want))),
		   "a value of this text is kept as a metric");
		is_int(m.step, 7, "a value of this text does not hinder the step");
	}
	is_int(parse("GRAD_SQR=nan\nGRAD_VAR=inf\nSTEP=1\n"), 0,
	       "a message of estimates that overflowed is read");
	ok(isnan(m.grad_sqr) && isnan(m.grad_var) && m.step == 1,
	   "estimates that overflowed are not known");
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
		ok(is_blank(), "a bad line sets nothing");
		ok(!report_line_is_valid(bad[i]), "'pollux report' refuses a bad line");
	}
	is_int(parse("STEP=x\nSAMPLES=7\nLOSS=y\n"), 2, "bad lines among good ones are counted");
	is_int(m.samples, 7, "good lines among bad ones are read");
	is_int(parse(""), 1, "an empty message is malformed");
	is_int(parse("\n\n"), 1, "a message of empty lines is malformed");
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

	is_int(report_message_parse(with_nul, sizeof(with_nul) - 1, &m), 1,
	       "a NUL in a value spoils one line");
	ok(m.step == -1 && m.samples == 2, "a NUL in a value spoils no other line");
	is_int(report_message_parse(nul_in_key, sizeof(nul_in_key) - 1, &m), 1,
	       "a NUL in a key spoils one line");
	ok(m.step == -1 && m.samples == 2, "a NUL in a key spoils no other line");
	is_int(parse("STATUS=a\tb\x1b[31mc\x7f" "d\r"), 0,
	       "a status of control characters is accepted");
	is_str(m.status, "a?b?[31mc?d?", "control characters in a status are made visible");
	is_int(parse("STATUS=\xff\xfe caf\xc3\xa9"), 0, "a status of any bytes is accepted");

	begin_with(long_message, sizeof(long_message), "STATUS=");
	is_int(report_message_parse(long_message, PATH_MAX, &m), 0,
	       "a status of 4000 characters is accepted");
	is_int((long long)strlen(m.status), REPORT_STATUS_SIZE - 1,
	       "a status of 4000 characters is clipped");
	begin_with(long_message, sizeof(long_message), "CHECKPOINT=");
	is_int(report_message_parse(long_message, 11 + PATH_MAX - 1, &m), 0,
	       "a checkpoint of PATH_MAX - 1 bytes is accepted");
	is_int((long long)strlen(m.checkpoint), PATH_MAX - 1,
	       "a checkpoint of PATH_MAX - 1 bytes is kept whole");
	is_int(report_message_parse(long_message, 11 + PATH_MAX, &m), 1,
	       "a checkpoint of PATH_MAX bytes is malformed");
	is_str(m.checkpoint, "", "a checkpoint of PATH_MAX bytes is not kept");
	memset(long_message, '\n', sizeof(long_message));
	is_int(report_message_parse(long_message, sizeof(long_message), &m), 1,
	       "a message of 8192 newlines is malformed");
	memset(long_message, 0, sizeof(long_message));
	is_int(report_message_parse(long_message, sizeof(long_message), &m), 1,
	       "a message of 8192 zeros is malformed");
	ok(is_blank(), "a message of zeros sets nothing");
}

static void test_lines(void)
{
	ok(report_line_is_valid("STEP=1"), "a line of one key is valid");
	ok(report_line_is_valid("STATUS=two words"), "a line with a blank is valid");
	ok(!report_line_is_valid("STEP=1\nSTEP=2"), "two lines are not one valid line");
	ok(!report_line_is_valid("COLOUR=red"), "an unknown key is refused to a person");
	ok(!report_line_is_valid(""), "an empty line is not valid");
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
