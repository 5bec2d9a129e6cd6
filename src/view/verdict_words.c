/* verdict_words.c - the sentences of verdicts: one for each kind of fact, in the order of
 * verdict.h. Each begins with what joins it to the words before. A word in braces stands for
 * members of the fact: verdict_pieces.c has them all. */
#include <string.h>

#include "parts.h"

#define JOINTS ",:; "
#define CUT "..."

static const char *const sentences[FACT_KINDS] = {
	/* what a job has */
	[FACT_HAS] = "; {has}",
	[FACT_KEEPS] = "; keeps {has}: {why_kept}",
	[FACT_HAS_TO_ITS_END] = "; {has} to its end: not preemptible",
	[FACT_STARTS_TO_KEEP] = "; {has}, not preemptible: {why_kept}",
	[FACT_SPEEDUP] = ": {times}x of {one}{of_kind}",
	[FACT_MORE_WOULD_ADD] = "; {one} more would add {gain}",
	[FACT_GAIN_UNKNOWN] = "; goodput not known yet",
	[FACT_RELAUNCHED] = "; relaunched, as its best configuration adds {percent}",
	[FACT_FAIR_SHARE] = "; fair share {n}",
	[FACT_FOR_A_SLICE] = " for a slice of {seconds}",
	[FACT_UNTIL_PUT_FIRST] = " until job {job}, put first, can have {n}",
	[FACT_UNTIL_SERVED_LESS] = " until job {job}, served less, can have {n}",
	[FACT_LEAST_SERVED] = "; no waiting job has had less service",
	[FACT_ALONE] = "; no other job waits",
	[FACT_FIRST_IN_FIRST_OUT] = " to its end: first in, first out",
	[FACT_BY_SERVICE] = "; what remains is not known: by service had",
	[FACT_SHORTEST_FIRST] = "; shortest remaining time first",
	[FACT_FIRST_QUEUE] = "; in the first queue, up to {service}",
	[FACT_SECOND_QUEUE] = "; in the second queue, after {service}",

	/* what a job waits for */
	[FACT_IN_LINE] = "; {nth} in line",
	[FACT_IN_LINE_PUT_FIRST] = "; {nth} in line, put first",
	[FACT_IN_LINE_BY_ARRIVAL] = "; {nth} in line, first in first out",
	[FACT_BEHIND] = ", after job {job}",
	[FACT_NEEDS] = "; needs {devices}",
	[FACT_NEEDS_OF] = "; needs {devices} of {of}",
	[FACT_LENGTH_UNKNOWN] = ("; " LENGTH_UNKNOWN),
	[FACT_WAITS_FOR_SLICES] = "; waits for {jobs} to end {their_slices}",
	[FACT_WAITS_TO_SETTLE] = "; waits for {jobs}, just started, to give way",
	[FACT_WAITS_FOR_SERVICE] = "; waits for {jobs} to have had as much",
	[FACT_WAITS_FOR_BOTH] = "; waits for {jobs} to end {their_slices} or to have had as much",
	[FACT_STARTS_AFTER] = "; starts when job {job} ends, or sooner",
	[FACT_WAITS_FOR_FIXED] = "; waits for jobs that are not preemptible",
	[FACT_MORE_WEIGHT_FIRST] = "; jobs of more weight first",
	[FACT_SHORTER_FIRST] = "; shorter jobs first",
	[FACT_BRIEF] = "; short: among the next to start",
	[FACT_IN_SLICE] = "; job {job} has its slice",
	[FACT_SETTLES] = "; job {job} has just started",
	[FACT_OTHERS_FIRST] = "; others come first",
	[FACT_ADDS_TO_SPEEDUP] = "; adds more to the mean speedup elsewhere",
	[FACT_ADDS_TO_SUM] = "; adds more to the sum elsewhere",
	[FACT_EARLIER_HAVE_ALL] = "; earlier jobs have all",
	[FACT_HAS_HAD] = "; has had {service}",
	[FACT_GUARANTEED] = "; guaranteed",
	[FACT_PUT_FIRST] = "; put first",
	[FACT_WAITED] = "; waited over {duration}",
	[FACT_AS_THOSE_BEFORE] = ", as those before it",
	[FACT_GATHERS] = ": gathers devices as slices end",
	[FACT_LETS_END] = ": lets job {job} end first",
	[FACT_KEPT_BY] = "; {jobs}, not preemptible, keep{s} {n}",
	[FACT_KEPT_BY_GUARANTEED] = "; {jobs}, not preemptible or guaranteed, keep{s} {n}",
	[FACT_RUN_MEANWHILE] = "; {jobs} run{s} meanwhile",
	[FACT_NOT_BEFORE] = "; not preemptible, so not before job {job}",
	[FACT_HOST_MEMORY] = "; waits for host memory: {host_memory}",
	[FACT_NEEDS_ONE_KIND] = "; needs {devices} of one kind; other jobs have all",

	/* what it can never have here */
	[FACT_TOO_FEW] = "; needs {devices}; {of_or_none} can be used here",
	[FACT_TOO_FEW_OF_KIND] = "; needs {devices} of one kind; no kind here has more than {of}",
	[FACT_ASKS] = "; asks for {range}",
	[FACT_WORKS_ON_NONE] = "; it is known to work on none of these",
	[FACT_EVEN_ON_NODE] = "; on nodes of {n}: powers of two that divide it, or whole nodes",

	/* what a pass found */
	[FACT_FEWER_BY_ROOM] = "; {devices}: other jobs leave no room for {place}",
	[FACT_WAITS_FOR_ROOM] =
		"; waits for room: {place}; the devices that other jobs leave are elsewhere",
	[FACT_MAKES_ROOM] = "; makes room on its node",
	[FACT_KINDS_TOO_SMALL] = "; {kinds}: too little memory",
	[FACT_PLAN] = "; plan {name}{plans}",
	[FACT_PLAN_CANNOT_READ] = "; {name} cannot read its checkpoints",
	[FACT_PLAN_LACKS_MEMORY] = "; {name} {memory_lack}",
	[FACT_PLAN_RAN_OUT_AT] = "; {name} ran out of memory with {samples} samples on each device",
	[FACT_PLAN_RAN_OUT_AT_ONE] =
		"; {name} ran out of memory with {samples} samples on a device",
	[FACT_PLAN_RAN_OUT] = "; {name} ran out of memory",
	[FACT_PLAN_FAILED] = "; {name} failed",
	[FACT_PLAN_WIDTH] = "; {name} has {n} devices for a replica",
	[FACT_PLAN_SLOWER] = "; {name} would be {percent} slower",
	[FACT_PLAN_FASTER] = "; {name} would be {percent} faster",
	[FACT_PLAN_FASTER_BUT_MEMORY] =
		"; {name} would be {percent} faster, but the host's memory is short",
	[FACT_PLAN_UNFIT] = "; {name} does not fit",
	[FACT_PLAN_NOT_MEASURED] = "; {name} was not measured",
	[FACT_RUNG_NO_POSITION] =
		"; passes its rungs: without --batch its position in samples is not known",
	[FACT_RUNG_UNSAVED] =
		"; goes on beyond rung {n} of {of}: it has saved nothing to be paused with",
	[FACT_RUNG_NO_METRIC] = "; goes on beyond rung {n} of {of}: it reported no {name} there",
	[FACT_NO_GUARANTEES] = "; policy {name} keeps no guarantee",
	[FACT_GUARANTEE] = "; its guarantee needs {devices}",
	[FACT_GUARANTEE_TOO_LARGE] = ", but {n} can be guaranteed here",
	[FACT_GUARANTEE_NO_NODES] =
		"; the nodes have no room for them beside those that are promised",
	[FACT_GUARANTEE_PROMISED] = "; {n} of {of} that can be guaranteed are promised",
	[FACT_GUARANTEE_EARLIER] = "; earlier jobs wait for theirs",
	[FACT_GUARANTEE_LOST] =
		"; guarantee not kept (an error of pollux): it would lose its {n} devices",
	[FACT_GUARANTEE_SLOW] = "; guarantee not kept (an error of pollux): {slow}",
	[FACT_DEVICE_OUT] = "; {name}: {why}",
	[FACT_PROFILE_HAS] = "; profile {job} has {names}",
	[FACT_PEOPLE] = "; {people}",
	[FACT_INTERACTIVE] = "; interactive, until {clock} at the latest",
	[FACT_TURNS] = "; {devices_are} in an interactive turn until {clock} at the latest",
	[FACT_BESIDE] = "; beside job {job} on {name}",
	[FACT_LEAVES] = "; leaves job {job} on {name}",
	[FACT_CANNOT_LEAVE] = "; cannot leave job {job} on {name}",
	[FACT_TOGETHER_MORE] = ": together they do {times} times what they did by turns",
	[FACT_TRIED_TOGETHER] = ", to measure whether that pays",
	[FACT_TOGETHER_LESS] = ": together they would do {too_few_times} is needed",
	[FACT_NO_ROOM_BESIDE] = ": with {gib} GiB of its own it does not fit beside it",
	[FACT_RAN_OUT_BESIDE] = ": the two ran out of memory beside each other",
	[FACT_LEAVES_WITH] = "; leaves {name} with job {job}",
	[FACT_WAITS_FOR_LINKS] = "; waits for {devices} joined by {link}: --tier {tier}",
	[FACT_WAITS_FOR_SET] =
		"; waits up to {wait} for {set} ({link}): {other} would be {slower} slower",
	[FACT_MOVES] = "; moves to {set} ({link}): {percent} faster there",
	[FACT_MEMORY_KEPT] = "; {name}: {memory}; it needs {needs}",
	[FACT_MEMORY_KEPT_UNKNOWN] = "; {name}: {memory}; it needs an unknown part of {needs}",
	[FACT_WAITS_FOR_DEVICE] = "; waits for {name}, where it can continue",
	[FACT_KEEPS_AS_UNFIT] = "; keeps its devices: no other job fits beside its memory",
	[FACT_GOES_ON_AS_UNFIT] = "; goes on: no other job fits beside its memory",
	[FACT_DEVICE_FREE] = "; another device is free",

	/* why a job was not in question */
	[FACT_RUN_IS_GONE] = "; its 'pollux run' is gone",
	[FACT_AFTER] = "; after job {job}, which {why}",
	[FACT_AFTER_ANY] = "; after any of {of} jobs, of which job {job} {why}",
	[FACT_WAS_TO_SUCCEED] = "; job {job}, which was to succeed first, {why}",
	[FACT_WAS_TO_FAIL] = "; job {job}, which was to fail first, is done",
	[FACT_BEGINS] = "; begins at {date}",
	[FACT_DISK_FULL] = "; no run starts while the disk is nearly full",
	[FACT_CANNOT_SAVE] = "; does not start, as it could not save: {why}",
	[FACT_NO_KIND] = "; no device that can be used is of a kind that {kind_options} allows",
	[FACT_NO_LINKS] = "; no {n} devices here are joined as --tier {tier} demands",
	[FACT_PAUSES] = "; tried again after a pause of {seconds}",
	[FACT_FAILED] = "; failed {n_times}; retry {n} of {of} after a pause of {seconds}",
	[FACT_LOST] = "; lost its supervisor {n} times in a row; again after a pause of {seconds}",
	[FACT_NOT_STARTED] = "; could not be started; tried again after {seconds}: {why}",
	[FACT_BOUND] = "; {name}: {why}",
	[FACT_GOES_ON_AFTER] = "; goes on there after job {job}",
	[FACT_GOES_ON_ALONE] = "; goes on there once other programs have left it",
	[FACT_GOES_ON_USABLE] = "; goes on there once {name} can be used",
	[FACT_GOES_ON_ALL_USABLE] = "; goes on there once each GPU can be used",
	[FACT_GOES_ON] = "; goes on there, and nowhere else",
	[FACT_UNEVEN] = ", which fall evenly on no nodes of {sizes}",
	[FACT_UNEVEN_EDIT] = ": 'pollux edit {job} -r {n}'{or_of} would do",
	[FACT_GROUP_FULL] = "; its group runs {n} of {of} at a time",
	[FACT_GROUP_BEHIND] = "; its group may run {of} at a time, and others of it come first",
	[FACT_PAUSED] = "; paused at {rung}",
	[FACT_WITHOUT_DEVICE] = "; without a device, on {cores}",
	[FACT_CPU_JOBS] = "; {cpu_jobs}, cpu_jobs = {of}",
	[FACT_CPU_CORES] = "; needs {cores}; CPU jobs have {cores_taken} of {of}",
	[FACT_CPU_BEHIND] = "; after CPU job {job}, which waits for cores",
	[FACT_CPU_TOO_FEW] = "; needs {cores}, and this machine has {of}",
	[FACT_MEMORY_FREE] = "; waits for host memory: {memory_free}",
	[FACT_CPU_SLURM] = "; has no device, and with engine = slurm each job has",
};

static const char *words_of(const struct fact *fact)
{
	return sentences[fact->kind] + strspn(sentences[fact->kind], JOINTS);
}

static void add_words(const char *words, const struct fact *fact, struct text *t)
{
	for (const char *brace; (brace = strchr(words, '{'));) {
		if (brace > words)
			text_add_bytes(t, words, (size_t)(brace - words));
		words = verdict_add_piece(brace + 1, fact, t);
	}
	if (*words)
		text_add(t, words);
}

void verdict_add_fact(const struct fact *fact, struct text *t)
{
	add_words(words_of(fact), fact, t);
}

static void shorten(struct text *t, size_t length)
{
	t->length = length;
	t->data[length] = '\0';
}

/* What does not fit loses its end, behind a whole character. */
static void cut(struct text *t, size_t most)
{
	size_t end = most - strlen(CUT);

	if (t->length <= most)
		return;
	while (((unsigned char)t->data[end] & 0xC0) == 0x80)
		end--;
	shorten(t, end);
	text_add(t, CUT);
}

void verdict_words(const struct verdict *v, struct text *t)
{
	size_t begin = t->length, most = begin + VERDICT_SIZE - 1;

	for (int i = v->n_remarks; i < v->n; i++) {
		const struct fact *fact = &v->facts[i];

		add_words(i == v->n_remarks ? words_of(fact) : sentences[fact->kind], fact, t);
	}
	if (v->n > 0 && v->facts[0].kind < FACT_RUN_IS_GONE)
		cut(t, most);
	for (int i = v->n_remarks - 1; i >= 0; i--) {
		struct text remark = TEXT_INIT;

		verdict_add_fact(&v->facts[i], &remark);
		if (t->length > begin && remark.length + 2 + t->length <= most) {
			text_add(&remark, "; ");
			text_add(&remark, t->data + begin);
		}
		shorten(t, begin);
		text_add(t, remark.data);
		cut(t, most);
		text_release(&remark);
	}
}
