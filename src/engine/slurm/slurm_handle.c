/* slurm_handle.c - the text by which the store knows a run that is a job of Slurm. */
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "slurm.h"

void slurm_handle_parse(const char *text, struct slurm_handle *h)
{
	const char *job = text ? strstr(text, " job=") : NULL;
	const char *dir = text ? strstr(text, " dir=") : NULL;

	h->job = job && (!dir || job < dir) ? strtoll(job + 5, NULL, 10) : 0;
	h->dir = xstrdup(dir ? dir + 5 : "");
}

char *slurm_handle_text(const struct slurm_handle *h)
{
	struct text t = TEXT_INIT;

	text_add(&t, "slurm");
	if (h->job)
		text_addf(&t, " job=%lld", (long long)h->job);
	if (h->dir[0])
		text_addf(&t, " dir=%s", h->dir);
	return text_detach(&t);
}

void slurm_handle_release(struct slurm_handle *h)
{
	free(h->dir);
	h->dir = NULL;
}
