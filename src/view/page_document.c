/* page_document.c - the document around the content of the page: its style, what a browser may do,
 * and the script that keeps the content up to date. */
#include <math.h>
#include <unistd.h>

#include "parts.h"

static const char style[] =
	":root{color-scheme:light dark;--ink:#1d2430;--dim:#667085;--line:#d5dae1;--back:#fff;"
	"--idle:#eef1f5}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e6e9ee;--dim:#98a2b3;--line:#3a4250;"
	"--back:#14181f;--idle:#222834}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0 auto;padding:1rem;max-width:75rem;background:var(--back);color:var(--ink);"
	"font:15px/1.45 system-ui,sans-serif}\n"
	"h1{font-size:1.3rem;margin:0}h2{font-size:1.05rem;margin:2rem 0 .5rem}"
	"h3{font-size:.95rem;margin:1.2rem 0 .3rem}\n"
	"p{margin:.3rem 0}a{color:inherit}nav a{margin-right:1em}\n"
	".dim,nav{color:var(--dim)}.wide{overflow-x:auto}\n"
	"table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
	"th{text-align:left;font-weight:600;color:var(--dim);font-size:.85em}\n"
	"th,td{padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);"
	"vertical-align:top}\n"
	".wide:not(.jobs) .n:first-child{width:1%}"
	".n{text-align:right;white-space:nowrap}td.why{min-width:20rem}"
	"td.name{overflow-wrap:anywhere;min-width:6rem}\n"
	/* Looks of jobs: six colours that the colour-blind tell apart, each with three patterns. */
	".c0{--c:#0072b2;--on:#fff}.c1{--c:#e69f00}.c2{--c:#00694f;--on:#fff}.c3{--c:#f0b6d8}"
	".c4{--c:#56b4e9}.c5{--c:#b33a1b;--on:#fff}\n"
	"i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;"
	"background:var(--c)}\n"
	"i.p1{background:repeating-linear-gradient(45deg,var(--c) 0 3px,var(--back) 3px 5px)}"
	"i.p2{background:radial-gradient(var(--back) 1.2px,var(--c) 1.7px) 0 0/.4em .4em}\n"
	".p1 .line{stroke-dasharray:7 3}.p2 .line{stroke-dasharray:2 2}\n"
	".chart,.timeline{display:block;width:100%;height:auto}.timeline{min-width:44rem}\n"
	"svg text{fill:var(--ink);font:11px system-ui,sans-serif}\n"
	"svg .axis,svg .value,svg .first{fill:var(--dim);font-size:10px}"
	"svg .axis{text-anchor:middle}svg .device,svg .value{text-anchor:end}\n"
	".bar{fill:var(--c)}svg .in{fill:var(--on,#000);stroke:var(--c);stroke-width:3px;"
	"paint-order:stroke}\n"
	".idle{fill:var(--idle)}.tick{stroke:var(--line);fill:none}\n"
	".line{fill:none;stroke:var(--c);stroke-width:1.5}.end{fill:var(--c)}\n"
	".charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));"
	"gap:.6rem}\n"
	"pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0;color:var(--dim)}\n"
	/* On a phone a job is a paragraph: its row without the batch size, and why below. */
	"@media(max-width:40rem){.jobs thead,.jobs td:empty,.jobs td:nth-child(6){display:none}"
	".jobs tr{display:flex;flex-wrap:wrap;border-bottom:1px solid var(--line)}"
	".jobs td{border:0}.jobs td.why{flex-basis:100%;min-width:0}}\n"
	"#live{position:sticky;bottom:0;background:var(--back);font-weight:600}\n"
	"@media print{body{max-width:none}section{break-inside:avoid}nav{display:none}}\n";

/* Puts the present content in place of the old one every two seconds, without moving what is read:
 * what was scrolled or has the focus stays, and a selected text is left alone. */
static const char script[] =
	"'use strict';\n"
	"const main = document.querySelector('main'), note = document.getElementById('live');\n"
	"const address = location.pathname.replace(/\\/*$/, '/body');\n"
	"let busy = false;\n"
	"function show(content) {\n"
	"	const y = scrollY, focus = document.activeElement?.getAttribute('href');\n"
	"	const wide = () => [...main.querySelectorAll('section[id]>.wide')];\n"
	"	const left = new Map(wide().map(e => [e.parentNode.id, e.scrollLeft]));\n"
	"	main.innerHTML = content;\n"
	"	for (const e of wide())\n"
	"		e.scrollLeft = left.get(e.parentNode.id) ?? 0;\n"
	"	if (focus)\n"
	"		main.querySelector(`a[href=\"${CSS.escape(focus)}\"]`)\n"
	"			?.focus({preventScroll: true});\n"
	"	scrollTo({top: y, behavior: 'instant'});\n"
	"}\n"
	"async function look() {\n"
	"	if (busy || document.hidden || !getSelection().isCollapsed)\n"
	"		return;\n"
	"	busy = true;\n"
	"	try {\n"
	"		const answer = await fetch(address,\n"
	"			{signal: AbortSignal.timeout(30000)});\n"
	"		if (!answer.ok)\n"
	"			throw answer.status;\n"
	"		show(await answer.text());\n"
	"		note.textContent = '';\n"
	"	} catch (e) {\n"
	"		note.textContent = 'This page is no longer updated: pollux page '\n"
	"			+ '--serve has ended, cannot be reached, or cannot read '\n"
	"			+ 'its store.';\n"
	"	}\n"
	"	busy = false;\n"
	"}\n"
	"setInterval(look, 2000);\n"
	"document.addEventListener('visibilitychange', look);\n";

struct page_host page_host(void)
{
	struct page_host host = { "" };

	if (gethostname(host.s, sizeof(host.s) - 1))
		return (struct page_host){ "this machine" };
	return host;
}

void page_add_policy(const char *nonce, struct text *out)
{
	text_add(out, "default-src 'none';style-src 'unsafe-inline';img-src data:;"
		 "base-uri 'none';form-action 'none'");
	if (nonce)
		text_addf(out, ";script-src 'nonce-%s';connect-src 'self'", nonce);
}

void page_add_document(const struct page_frame *frame, const char *content, struct text *out)
{
	text_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		 "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
		 "<meta http-equiv=\"Content-Security-Policy\" content=\"");
	page_add_policy(frame->nonce, out);
	text_add(out, "\">\n<link rel=\"icon\" href=\"data:,\">\n");
	if (frame->refresh_s > 0)
		text_addf(out, "<meta http-equiv=\"refresh\" content=\"%.0f\">\n",
			  fmax(frame->refresh_s, 1));
	text_add(out, "<title>pollux: ");
	page_add_text(out, page_host().s);
	text_addf(out, "</title><style>\n%s</style></head><body><main>\n%s</main>", style, content);
	if (frame->nonce)
		text_addf(out, "<p id=\"live\" role=\"status\"></p>"
			  "<script nonce=\"%s\">\n%s</script>", frame->nonce, script);
	text_add(out, "</body></html>\n");
}
