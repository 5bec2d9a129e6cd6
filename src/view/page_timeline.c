/* page_timeline.c - which job each device had, as a picture. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "parts.h"

#define WIDTH 1000.0	/* of the part with bars; the names of devices are left of it */
#define LEFT 110.0
#define ROW 26.0
#define BAR 18.0
#define TOP 22.0

int page_hue(int64_t job_id)
{
	return (int)(job_id * 137 % 360);
}

static double x_of(const struct page *p, double time_s)
{
	return LEFT + WIDTH * (time_s - p->from_s) / (p->now_s - p->from_s);
}

/* Seconds between the marks of the time axis, so that there are at most about ten. */
static double tick_step_s(double span_s)
{
	static const double steps_s[] = {
		60, 300, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800,
	};

	for (size_t i = 0; i < sizeof(steps_s) / sizeof(steps_s[0]); i++)
		if (span_s / steps_s[i] <= 10)
			return steps_s[i];
	return span_s / 10;
}

static double zone_offset_s(double wall_s)
{
	time_t t = (time_t)wall_s;
	struct tm local;

	return localtime_r(&t, &local) ? (double)local.tm_gmtoff : 0;
}

/* "14:30"; over several days the date at midnight, or with each hour where marks are days apart. */
static struct formatted tick_label(double wall_s, double step_s, bool days)
{
	time_t t = (time_t)wall_s;
	struct formatted label = { "" };
	struct tm local;

	if (localtime_r(&t, &local))
		strftime(label.s, sizeof(label.s),
			 !days || (local.tm_hour && step_s < 86400) ? "%H:%M" : "%m-%d", &local);
	return label;
}

static void add_bar(struct text *out, const struct page *p, const struct page_turn *turn,
		    double y)
{
	double x = x_of(p, turn->from_s), width = x_of(p, turn->to_s) - x;
	int64_t batch_size = configuration_batch_size(&turn->configuration);

	text_addf(out, "<g><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\" "
		  "fill=\"hsl(%d 55%% 50%%)\"/>", x, y, fmax(width - 0.6, 0.6), BAR,
		  page_hue(turn->job_id));
	if (width > 18 + 7 * log10((double)turn->job_id + 1))
		text_addf(out, "<text class=\"in\" x=\"%.1f\" y=\"%.1f\">%lld</text>",
			  x + width / 2, y + BAR - 5, (long long)turn->job_id);
	text_addf(out, "<title>job %lld, ", (long long)turn->job_id);
	page_add_text(out, turn->job_name);
	text_addf(out, ": run %d, %s, %s from ", turn->run_number, turn->how,
		  format_duration(turn->to_s - turn->from_s).s);
	text_add(out, format_time(turn->from_s, p->now_s).s);
	if (batch_size > 0)
		text_addf(out, ", batch %lld on %d device%s", (long long)batch_size,
			  turn->configuration.replicas,
			  plural(turn->configuration.replicas));
	text_add(out, "</title></g>\n");
}

static int count_devices(const struct page *p)
{
	int n = 0;

	for (int i = 0; i < p->n_turns; i++)
		n += i == 0 || strcmp(p->turns[i].device, p->turns[i - 1].device) != 0;
	return n;
}

void page_add_timeline(struct text *out, const struct page *p)
{
	double height = TOP + ROW * count_devices(p), y = TOP - ROW;
	double step_s = tick_step_s(p->now_s - p->from_s), offset_s = zone_offset_s(p->now_s);
	bool days = p->now_s - p->from_s > 86400;
	double first = ceil((p->from_s + offset_s) / step_s) * step_s - offset_s;

	if (p->n_turns == 0) {
		text_add(out, "<p>No device was in use.</p>\n");
		return;
	}
	text_addf(out, "<div class=\"wide\"><svg class=\"timeline\" "
		  "viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
		  "aria-label=\"devices and the jobs that had them\">\n",
		  LEFT + WIDTH + 6, height + 4);
	for (int i = 0; first + i * step_s < p->now_s; i++) {
		double t = first + i * step_s;

		text_addf(out, "<path class=\"tick\" d=\"M%.1f %.0fV%.0f\"/>"
			  "<text class=\"axis\" x=\"%.1f\" y=\"14\">%s</text>\n",
			  x_of(p, t), TOP - 4, height, x_of(p, t), tick_label(t, step_s, days).s);
	}
	for (int i = 0; i < p->n_turns; i++) {
		const struct page_turn *turn = &p->turns[i];

		if (i == 0 || strcmp(turn->device, p->turns[i - 1].device) != 0) {
			y += ROW;
			text_addf(out, "<rect class=\"idle\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" "
				  "height=\"%.0f\"/><text class=\"device\" x=\"%.0f\" y=\"%.1f\">",
				  LEFT, y, WIDTH, BAR, LEFT - 8, y + BAR - 5);
			page_add_text(out, turn->device);
			text_add(out, "</text>\n");
		}
		add_bar(out, p, turn, y);
	}
	text_add(out, "</svg></div>\n");
}
