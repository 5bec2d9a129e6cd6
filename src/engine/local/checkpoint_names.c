/* checkpoint_names.c - what a name tells. All tables of names are here: see checkpoints.h. */
#include <ctype.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "checkpoints.h"

#define WORD_SIZE 16

/* Words of unfinished names. */
static const struct mark {
	const char *word;
	enum {
		ANYWHERE,	/* as a word: "tmp" in "ckpt_tmp.pt", but not in "attempt" */
		AT_ENDS,	/* the first or the last word before an extension, or a suffix */
		AS_SUFFIX,	/* after a dot: ".part", ".part.4711" */
	} where;
} marks[] = {
	{ "tmp", ANYWHERE }, { "incomplete", ANYWHERE }, { "unfinished", ANYWHERE },
	{ "inprogress", ANYWHERE }, { "uncommitted", ANYWHERE }, { "crdownload", ANYWHERE },
	{ "temporary", ANYWHERE }, { "partial", AT_ENDS }, { "temp", AT_ENDS },
	{ "writing", AS_SUFFIX }, { "saving", AS_SUFFIX }, { "progress", AS_SUFFIX },
	{ "part", AS_SUFFIX }, { "filepart", AS_SUFFIX }, { "new", AS_SUFFIX },
	{ "download", AS_SUFFIX }, { "opdownload", AS_SUFFIX }, { "swp", AS_SUFFIX },
	{ "swo", AS_SUFFIX }, { "swx", AS_SUFFIX }, { "gstmp", AS_SUFFIX },
	{ "aria", AS_SUFFIX }, { "wip", AS_SUFFIX }, { "staging", AS_SUFFIX },
	/* what a program or its user has put aside */
	{ "pending", AS_SUFFIX }, { "dirty", AS_SUFFIX }, { "corrupt", AS_SUFFIX },
	{ "corrupted", AS_SUFFIX }, { "broken", AS_SUFFIX }, { "bad", AS_SUFFIX },
	{ "failed", AS_SUFFIX }, { "invalid", AS_SUFFIX }, { "deleted", AS_SUFFIX },
	{ "delete", AS_SUFFIX }, { "deleting", AS_SUFFIX }, { "trash", AS_SUFFIX },
};

/* Endings of files, with a blank on both sides of each. */
static const char strong_ends[] =
	" pt pth ckpt keras tar h5 hdf5 msgpack npz safetensors ubj cbm ptl caffemodel distcp "
	"pdparams nemo ";
static const char model_ends[] = " bin pkl pickle model joblib weights params npy zip onnx gz gguf "
	"mpk ot jld2 bson rds ";
static const char text_ends[] = " txt json html npy xml ";
static const char companion_ends[] = " sha sha1 sha256 sha512 md5 md5sum crc crc32 sum sig asc "
	"meta metadata info size ok done complete completed success committed finished stamp ";
static const char none_ends[] =
	" py pyc pyi pyx so o a c h cc cpp cxx hpp cu cuh rs go js ts sh bash ipynb jl lua r java "
	"md rst tex pdf doc docx yaml yml toml ini cfg conf lock "
	"png jpg jpeg gif svg bmp tif tiff webp ppm mp4 avi mov mkv wav flac mp3 ogg "
	"csv tsv jsonl parquet arrow feather tfrecord tfrecords lmdb mdb rec idx "
	"log out err prof trace nsys-rep qdrep ncu-rep ";

/* Words in names of JSON files that tell about the training or its data, and are no state of it. */
static const char told_words[] =
	" config configuration cfg conf arg args arguments opts options settings "
	"hparams hyperparameters hyperparams params metric metrics result results "
	"score scores history stats statistics loss losses log logs eval evaluation "
	"summary report trace profile timing vocab tokenizer tokens merges labels "
	"classes data dataset annotations predictions outputs manifest index info "
	"meta metadata env environment package requirements schema ";

static const char *extension(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot > name && !isdigit((unsigned char)dot[1]) ? dot + 1 : "";
}

static bool ends_in(const char *name, const char *list)
{
	const char *end = extension(name);
	size_t n = strlen(end);

	for (const char *p = list; n && !strchr(end, ' ') && (p = strcasestr(p, end)); p++)
		if (p[-1] == ' ' && p[n] == ' ')
			return true;
	return false;
}

/* The word at *p, in small letters; *p goes past it. A word is a run of letters in which no capital
 * follows a small letter. 0: the name is over. */
static size_t next_word(const char **p, char word[WORD_SIZE])
{
	const char *s = *p;
	size_t n = 0;

	while (*s && !isalpha((unsigned char)*s))
		s++;
	while (isalpha((unsigned char)*s) &&
	       (n == 0 || !(isupper((unsigned char)*s) && islower((unsigned char)s[-1])))) {
		if (n < WORD_SIZE - 1)
			word[n] = (char)tolower((unsigned char)*s);
		n++;
		s++;
	}
	word[n < WORD_SIZE ? n : WORD_SIZE - 1] = '\0';
	*p = s;
	return n;
}

/* A suffix of the name begins here: ".part". */
static bool is_suffix(const char *name, const char *begin, const char *end)
{
	return begin == name ? !*end : begin[-1] == '.' && (!*end || strchr("._-0123456789", *end));
}

static bool is_mark(const struct mark *m, const char *name, const char *begin, const char *end)
{
	const char *after = end + strspn(end, "_-= ");

	if (m->where == ANYWHERE || is_suffix(name, begin, end))
		return true;
	if (m->where == AS_SUFFIX)
		return false;
	/* "temp-0.7.pt" has a temperature, "temp_ckpt.pt" a mark */
	if (begin == name)
		return !isdigit((unsigned char)*after);
	return !*end || (*end == '.' && !strchr(end + 1, '.') && !isdigit((unsigned char)end[1]));
}

/* The names that mkstemp(3) and Python's tempfile make: "tmpab12cd_x", "ckpt.tmpAb12Cd". */
static bool is_of_mkstemp(const char *name)
{
	for (const char *p = name; (p = strcasestr(p, "tmp")); p++) {
		size_t n = strcspn(p + 3, ".-");

		if (tolower((unsigned char)p[3]) == 'l' && !isalnum((unsigned char)p[4]))
			continue;	/* a template */
		if (p == name ? n == 8
			      : p[-1] == '.' && n > 0 && tolower((unsigned char)p[3]) != 'l')
			return true;
	}
	return false;
}

bool checkpoint_name_is_unfinished(const char *name)
{
	size_t length = strlen(name);
	char word[WORD_SIZE], before[WORD_SIZE] = "";
	const char *p = name;
	size_t n;

	if (length && (name[length - 1] == '~' || (name[0] == '#' && name[length - 1] == '#')))
		return true;
	while ((n = next_word(&p, word))) {
		for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
			if (!strcmp(word, marks[i].word) && is_mark(&marks[i], name, p - n, p))
				return true;
		if (!strcmp(before, "in") && !strcmp(word, "progress"))
			return true;
		strcpy(before, word);
	}
	return is_of_mkstemp(name);
}

bool checkpoint_name_is_temporary(const char *name)
{
	static const struct mark locks[] = { { "lock", AS_SUFFIX }, { "lck", AS_SUFFIX } };
	char word[WORD_SIZE];
	const char *p = name;
	size_t n;

	while ((n = next_word(&p, word)))
		for (size_t i = 0; i < 2; i++)
			if (!strcmp(word, locks[i].word) && is_mark(&locks[i], name, p - n, p))
				return true;
	return name[0] == '.' || checkpoint_name_is_unfinished(name);
}

static bool has_word(const char *name, const char *list)
{
	char word[WORD_SIZE], blank[WORD_SIZE + 2] = " ";
	const char *p = name;

	while (next_word(&p, word)) {
		strcpy(blank + 1, word);
		strcat(blank, " ");
		if (strstr(list, blank))
			return true;
	}
	return false;
}

static bool says_checkpoint(const char *name)
{
	static const char *const texts[] = { "checkpoint", "ckpt", "chkpt", "chkpnt", "snapshot" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcasestr(name, texts[i]))
			return true;
	return false;
}

enum name_class checkpoint_name_class(const char *name)
{
	bool has_number = strpbrk(name, "0123456789");

	/* "core", "core.4711": a dump of memory */
	if (ends_in(name, none_ends) ||
	    (!strncmp(name, "core", 4) &&
	     (!name[4] || (name[4] == '.' && isdigit((unsigned char)name[5])))) ||
	    !strncmp(name, "events.out.tfevents", 19))
		return NAME_NONE;
	/* what programs write beside the weights, each into a file of its own */
	if (ends_in(name, " pdopt pdstates states ") ||
	    has_word(name, " replay vecnormalize ema swa ") || !strncmp(name, "rng_state", 9) ||
	    !strncmp(name, "random_states", 13) ||
	    (has_word(name, " optim optimizer optimizers scheduler scaler ") &&
	     !has_word(name, " model weights net params ")))
		return NAME_MODEL;
	if (ends_in(name, strong_ends) ||
	    (says_checkpoint(name) && !ends_in(name, " txt html xml ")))
		return NAME_CHECKPOINT;
	if (has_number && has_word(name, " model weights state net params ") &&
	    (!*extension(name) || ends_in(name, model_ends) || ends_in(name, text_ends)))
		return NAME_CHECKPOINT;
	if (checkpoint_order_counts(name) && !ends_in(name, text_ends))
		return NAME_CHECKPOINT;
	if (ends_in(name, " json ") && !has_word(name, told_words))
		return NAME_JSON;
	return ends_in(name, model_ends) ? NAME_MODEL : NAME_OTHER;
}

bool checkpoint_name_has_weights(const char *name)
{
	return ends_in(name, strong_ends) ||
	       (ends_in(name, model_ends) && !ends_in(name, text_ends));
}

static bool stands_beside(const char *directory, const char *stem, int n, const char *ends)
{
	for (const char *end = ends + 1; *end; end += strcspn(end, " ") + 1) {
		char *path = xasprintf("%s/%.*s.%.*s", directory, n, stem,
				       (int)strcspn(end, " "), end);
		bool found = access(path, F_OK) == 0;

		free(path);
		if (found)
			return true;
	}
	return false;
}

bool checkpoint_name_is_companion(const char *directory, const char *name)
{
	const char *dot = strrchr(name, '.');
	bool is_text = ends_in(name, text_ends), found = false;
	char *path;

	if (!is_text && !ends_in(name, companion_ends))
		return false;
	path = xasprintf("%s/%.*s", directory, (int)(dot - name), name);
	found = access(path, F_OK) == 0;
	free(path);
	for (int n = (int)(dot - name); n > 0 && !found; n--)
		if (name[n] == '.' || (is_text && strchr("_-", name[n])))
			found = stands_beside(directory, name, n, strong_ends) ||
				stands_beside(directory, name, n, " bin npz pkl pickle ");
	return found;
}

bool checkpoint_name_of_directory(const char *name)
{
	size_t n = strlen(name);

	if (has_word(name, " checkpoints ckpts snapshots "))
		return false;	/* a directory of them */
	if (ends_in(name, " ckpt pt pth nemo "))
		return true;
	if (!strpbrk(name, "0123456789"))
		return false;
	return says_checkpoint(name) ||
	       (checkpoint_order_counts(name) && isdigit((unsigned char)name[n - 1]));
}

bool checkpoint_name_is_last(const char *name)
{
	return has_word(name, " last latest best final ") &&
	       (says_checkpoint(name) || has_word(name, " model "));
}

bool checkpoint_name_is_best(const char *name)
{
	return has_word(name, " best ");
}

bool checkpoint_glob_matches(const char *glob, const char *path)
{
	const char *slash = strrchr(path, '/');

	return !fnmatch(glob, path, 0) || (slash && !fnmatch(glob, slash + 1, 0));
}

/* True if the list, with a blank on both sides of each name, has the name. */
static bool is_one_of(const char *name, const char *list)
{
	size_t n = strlen(name);

	for (const char *p = list; !strchr(name, ' ') && (p = strstr(p, name)); p++)
		if (p[-1] == ' ' && p[n] == ' ')
			return true;
	return false;
}

bool log_directory_name(const char *name)
{
	return is_one_of(name, " runs wandb lightning_logs mlruns logs tensorboard tb_logs ");
}

bool code_directory_name(const char *name)
{
	return is_one_of(name, " __pycache__ node_modules site-packages torch_compile_debug ");
}
