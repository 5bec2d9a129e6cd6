/* epochs_option.h - the number of epochs that a command asks its program for; private to
 * src/engine/local. */
#ifndef POLLUX_RUN_EPOCHS_OPTION_H
#define POLLUX_RUN_EPOCHS_OPTION_H

#include "pollux/text.h"

/* The number behind an option such as --epochs, --max_epochs=10, --num-train-epochs or
 * trainer.max_epochs=10 (Hydra's way). NaN: there is no such option, or two of them differ. */
double epochs_of_command(const struct strings *argv);

#endif
