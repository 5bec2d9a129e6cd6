/* page_chart.c - curves of a job, or of the jobs of a group, as a small picture. */
#include <math.h>
#include <string.h>

#include "parts.h"
#include "pollux/text.h"

#define WIDTH 320.0
#define HEIGHT 150.0
#define LEFT 52.0
#define RIGHT 12.0
#define TOP 24.0
#define BOTTOM 22.0

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
	return place_value(&s->x, x_value(s, c, point), LEFT, WIDTH - RIGHT);
}

static double y_of(const struct scale *s, const struct curve *c, int point)
{
	return place_value(&s->y, c->points[point].value, HEIGHT - BOTTOM, TOP);
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
	text_addf(out, "<g style=\"--c:hsl(%d 60%% 50%%)\">", page_hue(line->job_id));
	last = add_points(out, s, c);
	/* a cross at the top for each value that is not finite */
	for (int k = 0; k < c->n; k++)
		if (!isfinite(c->points[k].value))
			text_addf(out, "<path class=\"line\" d=\"M%.1f %.1fl6 6m0 -6l-6 6\">"
				  "<title>%s</title></path>", x_of(s, c, k) - 3, TOP - 3,
				  value_word(c->points[k].value));
	if (last >= 0)
		text_addf(out, "<circle class=\"end\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>",
			  x_of(s, c, last), y_of(s, c, last));
	if (is_named)
		text_addf(out, "<title>job %lld: %s</title>", (long long)line->job_id,
			  value_format(c->points[c->n - 1].value, 4).s);
	text_add(out, "</g>\n");
}

static void add_value(struct text *out, double y, double value)
{
	text_addf(out, "<text class=\"value\" x=\"%.0f\" y=\"%.0f\">%.4g</text>\n", LEFT - 6, y + 4,
		  value);
}

static void add_axes(struct text *out, const struct scale *s)
{
	text_addf(out, "<path class=\"tick\" d=\"M%.0f %.0fH%.0fM%.0f %.0fH%.0f\"/>", LEFT, TOP,
		  WIDTH - RIGHT, LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT);
	if (s->is_empty) {
		text_addf(out, "<text class=\"value\" x=\"%.0f\" y=\"%.0f\">nan</text>\n", LEFT - 6,
			  TOP + 4);
	} else if (s->is_flat) {
		add_value(out, (TOP + HEIGHT - BOTTOM) / 2, (s->y.low + s->y.high) / 2);
	} else {
		add_value(out, TOP, s->y.high);
		add_value(out, HEIGHT - BOTTOM, s->y.low);
	}
	if (s->by_time) {
		text_addf(out, "<text class=\"value\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
			  WIDTH - RIGHT, HEIGHT - 6, format_duration(s->x.high - s->x.low).s);
		return;
	}
	text_addf(out, "<text class=\"first\" x=\"%.0f\" y=\"%.0f\">%s</text>", LEFT, HEIGHT - 6,
		  format_count(s->x.low).s);
	text_addf(out, "<text class=\"value\" x=\"%.0f\" y=\"%.0f\">%s samples</text>\n",
		  WIDTH - RIGHT, HEIGHT - 6, format_count(s->x.high).s);
}

void page_add_chart(struct text *out, const char *title, const struct chart_line *lines, int n)
{
	struct scale s = scale_of(lines, n);

	if (!isfinite(s.x.low) || !isfinite(s.y.low) || !isfinite(s.y.high))
		return;		/* no point */
	text_addf(out, "<svg class=\"chart\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"",
		  WIDTH, HEIGHT);
	page_add_text(out, title);
	text_addf(out, "\"><text class=\"title\" x=\"%.0f\" y=\"12\">", LEFT);
	page_add_text(out, title);
	text_add(out, "</text>\n");
	add_axes(out, &s);
	for (int i = 0; i < n; i++)
		add_line(out, &s, &lines[i], n > 1);
	text_add(out, "</svg>\n");
}
