/* page_svg.c - draws the pictures of the page: curves of jobs, and which job each device had.
 *
 * The page is one file, made also where there is no gnuplot, and its style colours the pictures: so
 * they are elements of SVG. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "parts.h"
#include "pollux/text.h"

/* --- elements --- */

/* Begins a picture; its size is in units of its own, and it becomes as wide as there is room. */
static void begin_picture(struct text *out, const char *class, double width, double height,
			  const char *label)
{
	text_addf(out, "<svg class=\"%s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"",
		  class, width, height);
	page_add_text(out, label);
	text_add(out, "\">\n");
}

/* Adds a short text whose base line is at y; the class says what of the text is at x. */
__attribute__((format(printf, 5, 6)))
static void add_label(struct text *out, const char *class, double x, double y, const char *format,
		      ...)
{
	char s[256];
	va_list args;

	va_start(args, format);
	vsnprintf(s, sizeof(s), format, args);
	va_end(args);
	text_addf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
	page_add_text(out, s);
	text_add(out, "</text>\n");
}

#define COLOURS 6
#define PATTERNS 3

struct formatted page_look(int64_t job_id)
{
	struct formatted look;

	snprintf(look.s, sizeof(look.s), "c%c p%c", (char)('0' + job_id % COLOURS),
		 (char)('0' + job_id / COLOURS % PATTERNS));
	return look;
}

/* --- curves of a job, or of the jobs of a group --- */

#define CHART_WIDTH 320.0
#define CHART_HEIGHT 150.0
/* The edges of the part with curves. */
#define CHART_LEFT 52.0
#define CHART_RIGHT 308.0
#define CHART_TOP 24.0
#define CHART_BOTTOM 128.0

struct range {
	double low, high;
};

struct scale {
	struct range x, y;
	bool is_flat;		/* all values are the same: the line is in the middle */
	bool is_empty;		/* no value is finite: there is only a mark for each */
	bool by_time;		/* x is the time since the first point: a position is unknown */
};

static void widen(struct range *r, double value)
{
	r->low = fmin(r->low, value);
	r->high = fmax(r->high, value);
}

static double x_value(const struct scale *s, const struct curve *c, int point)
{
	return s->by_time ? c->points[point].time_s - c->points[0].time_s
			  : c->points[point].samples;
}

static struct scale scale_of(const struct chart_line *lines, int n)
{
	const struct range none = { (double)INFINITY, -(double)INFINITY };
	struct scale s = { .x = none, .y = none };

	for (int i = 0; i < n; i++)
		for (int k = 0; k < lines[i].curve->n; k++)
			s.by_time |= isnan(lines[i].curve->points[k].samples);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < lines[i].curve->n; k++) {
			widen(&s.x, x_value(&s, lines[i].curve, k));
			if (isfinite(lines[i].curve->points[k].value))
				widen(&s.y, lines[i].curve->points[k].value);
		}
	if (s.x.high <= s.x.low)
		s.x.high = s.x.low + 1;
	s.is_empty = !isfinite(s.y.low);
	if (s.is_empty)
		s.y = (struct range){ 0, 1 };
	s.is_flat = s.y.high <= s.y.low;
	if (s.is_flat) {
		double half = fabs(s.y.low) * 0.1 + 1e-300;

		s.y = (struct range){ s.y.low - half, s.y.high + half };
	}
	return s;
}

static double place_value(const struct range *r, double value, double from, double to)
{
	/* halves: the difference of two numbers may be none */
	return from + (to - from) * (value / 2 - r->low / 2) / (r->high / 2 - r->low / 2);
}

static double x_of(const struct scale *s, const struct curve *c, int point)
{
	return place_value(&s->x, x_value(s, c, point), CHART_LEFT, CHART_RIGHT);
}

static double y_of(const struct scale *s, const struct curve *c, int point)
{
	return place_value(&s->y, c->points[point].value, CHART_BOTTOM, CHART_TOP);
}

/* Adds the line, with a gap where values are not finite. Returns its last point; -1: there is
 * none. */
static int add_points(struct text *out, const struct scale *s, const struct curve *c)
{
	bool in_steps = !strcmp(c->name, CURVE_BATCH_SIZE), draws = false;
	int last = -1;

	for (int k = 0; k < c->n; k++) {
		if (!isfinite(c->points[k].value)) {
			text_add(out, draws ? "\"/>" : "");
			draws = false;
			continue;
		}
		if (!draws)
			text_add(out, "<polyline class=\"line\" points=\"");
		else if (in_steps)
			text_addf(out, " %.1f,%.1f", x_of(s, c, k), y_of(s, c, k - 1));
		text_addf(out, "%s%.1f,%.1f", draws ? " " : "", x_of(s, c, k), y_of(s, c, k));
		draws = true;
		last = k;
	}
	text_add(out, draws ? "\"/>" : "");
	return last;
}

static void add_line(struct text *out, const struct scale *s, const struct chart_line *line,
		     bool is_named)
{
	const struct curve *c = line->curve;
	int last;

	if (c->n == 0)
		return;
	text_addf(out, "<g class=\"%.*s\">", is_named ? 5 : 2, page_look(line->job_id).s);
	last = add_points(out, s, c);
	/* a cross at the top for each value that is not finite */
	for (int k = 0; k < c->n; k++)
		if (!isfinite(c->points[k].value))
			text_addf(out, "<path class=\"line\" d=\"M%.1f %.1fl6 6m0 -6l-6 6\">"
				  "<title>%s</title></path>", x_of(s, c, k) - 3, CHART_TOP - 3,
				  value_word(c->points[k].value));
	if (last >= 0)
		text_addf(out, "<circle class=\"end\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>",
			  x_of(s, c, last), y_of(s, c, last));
	if (is_named)
		text_addf(out, "<title>job %lld: %s</title>", (long long)line->job_id,
			  value_format(c->points[c->n - 1].value, 4).s);
	text_add(out, "</g>\n");
}

static void add_axes(struct text *out, const struct scale *s)
{
	const double x = CHART_LEFT - 6, below = CHART_HEIGHT - 6;

	text_addf(out, "<path class=\"tick\" d=\"M%.0f %.0fH%.0fM%.0f %.0fH%.0f\"/>", CHART_LEFT,
		  CHART_TOP, CHART_RIGHT, CHART_LEFT, CHART_BOTTOM, CHART_RIGHT);
	if (s->is_empty) {
		add_label(out, "value", x, CHART_TOP + 4, "nan");
	} else if (s->is_flat) {
		add_label(out, "value", x, (CHART_TOP + CHART_BOTTOM) / 2 + 4, "%.4g",
			  (s->y.low + s->y.high) / 2);
	} else {
		add_label(out, "value", x, CHART_TOP + 4, "%.4g", s->y.high);
		add_label(out, "value", x, CHART_BOTTOM + 4, "%.4g", s->y.low);
	}
	if (s->by_time) {
		add_label(out, "value", CHART_RIGHT, below, "%s",
			  format_duration(s->x.high - s->x.low).s);
	} else {
		add_label(out, "first", CHART_LEFT, below, "%s", format_count(s->x.low).s);
		add_label(out, "value", CHART_RIGHT, below, "%s samples",
			  format_count(s->x.high).s);
	}
}

void page_add_chart(struct text *out, const char *title, const struct chart_line *lines, int n)
{
	struct scale s = scale_of(lines, n);

	if (!isfinite(s.x.low) || !isfinite(s.y.low) || !isfinite(s.y.high))
		return;		/* no point */
	begin_picture(out, "chart", CHART_WIDTH, CHART_HEIGHT, title);
	add_label(out, "title", CHART_LEFT, 12, "%s", title);
	add_axes(out, &s);
	for (int i = 0; i < n; i++)
		add_line(out, &s, &lines[i], n > 1);
	text_add(out, "</svg>\n");
}

/* --- which job each device had --- */

#define LINES_WIDTH 1000.0	/* of the part with bars; the names of devices are left of it */
#define LINES_LEFT 110.0
#define ROW 26.0
#define BAR 18.0
#define LINES_TOP 22.0

static double time_x(const struct page *p, double time_s)
{
	return LINES_LEFT + LINES_WIDTH * (time_s - p->from_s) / (p->now_s - p->from_s);
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
	double x = time_x(p, turn->from_s), width = time_x(p, turn->to_s) - x;
	int64_t batch_size = configuration_batch_size(&turn->configuration);
	struct formatted look = page_look(turn->job_id);
	const char *pattern = look.s + strcspn(look.s, "p");
	struct text t = TEXT_INIT;
	const char *place;

	text_addf(&t, "x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\"",
		  x, y, fmax(width - 0.6, 0.6), BAR);
	place = t.data;
	text_addf(out, "<g class=\"%s\"><rect class=\"bar\" %s/>", look.s, place);
	if (pattern[1] != '0')
		text_addf(out, "<rect fill=\"url(#%s)\" %s/>", pattern, place);
	/* a picture within cuts the name at the end of the bar */
	if (width > 12 + 7 * log10((double)turn->job_id + 1)) {
		text_addf(out, "<svg %s>", place);
		add_label(out, "in", 5, BAR - 5, "%lld %s", (long long)turn->job_id,
			  turn->job_name);
		text_add(out, "</svg>");
	}
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
	text_release(&t);
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
	double height = LINES_TOP + ROW * count_devices(p), y = LINES_TOP - ROW;
	double step_s = tick_step_s(p->now_s - p->from_s), offset_s = zone_offset_s(p->now_s);
	bool days = p->now_s - p->from_s > 86400;
	double first = ceil((p->from_s + offset_s) / step_s) * step_s - offset_s;

	if (p->n_turns == 0) {
		text_add(out, "<p>No device was in use.</p>\n");
		return;
	}
	text_add(out, "<div class=\"wide\">");
	begin_picture(out, "timeline", LINES_LEFT + LINES_WIDTH + 6, height + 4,
		      "devices and the jobs that had them");
	text_add(out, "<defs><pattern id=\"p1\" width=\"7\" height=\"7\" "
		 "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
		 "<rect width=\"3\" height=\"7\" opacity=\".2\"/></pattern>"
		 "<pattern id=\"p2\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
		 "<circle cx=\"2\" cy=\"2\" r=\"1.6\" opacity=\".3\"/></pattern></defs>\n");
	for (int i = 0; first + i * step_s < p->now_s; i++) {
		double x = time_x(p, first + i * step_s);

		text_addf(out, "<path class=\"tick\" d=\"M%.1f %.0fV%.0f\"/>", x, LINES_TOP - 4,
			  height);
		add_label(out, "axis", x, 14, "%s",
			  tick_label(first + i * step_s, step_s, days).s);
	}
	for (int i = 0; i < p->n_turns; i++) {
		const struct page_turn *turn = &p->turns[i];

		if (i == 0 || strcmp(turn->device, p->turns[i - 1].device) != 0) {
			y += ROW;
			text_addf(out, "<rect class=\"idle\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" "
				  "height=\"%.0f\"/>", LINES_LEFT, y, LINES_WIDTH, BAR);
			add_label(out, "device", LINES_LEFT - 8, y + BAR - 5, "%s", turn->device);
		}
		add_bar(out, p, turn, y);
	}
	text_add(out, "</svg></div>\n");
}
