/* learning_rate.c - rules for the learning rate of another batch size. See goodput.h. */
#include <math.h>
#include <string.h>

#include "pollux/goodput.h"

double goodput_lr_factor(enum lr_rule rule, double phi, double initial_batch_size,
			 double batch_size)
{
	double ratio = batch_size / initial_batch_size;
	double gain = isnan(phi) ? fmin(ratio, 1)
				 : goodput_gain(phi, initial_batch_size, batch_size);

	switch (rule) {
	case LR_AUTO:
	case LR_ADASCALE:
		return gain;
	case LR_SQRT_GAIN:
		return sqrt(gain);
	case LR_SQRT:
		return sqrt(ratio);
	case LR_LINEAR:
		return ratio;
	case LR_NONE:
		break;
	}
	return 1;
}

static const char *const lr_rules[] = {
	[LR_AUTO] = "auto", [LR_ADASCALE] = "adascale", [LR_SQRT_GAIN] = "sqrt-gain",
	[LR_SQRT] = "sqrt", [LR_LINEAR] = "linear", [LR_NONE] = "none",
};

enum lr_rule lr_rule_for(enum lr_rule rule, enum optimizer_family optimizer)
{
	if (rule != LR_AUTO)
		return rule;
	if (optimizer == OPTIMIZER_ADAM)
		return LR_SQRT_GAIN;
	return optimizer == OPTIMIZER_OTHER || optimizer == OPTIMIZER_SEARCH ? LR_NONE
									     : LR_ADASCALE;
}

bool lr_rule_parse(enum lr_rule *rule, const char *word)
{
	for (int i = 0; i <= LR_NONE; i++) {
		if (strcmp(word, lr_rules[i]) == 0) {
			*rule = (enum lr_rule)i;
			return true;
		}
	}
	return false;
}

const char *lr_rule_name(enum lr_rule rule)
{
	return lr_rules[rule];
}
