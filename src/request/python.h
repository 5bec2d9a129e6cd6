/* python.h - tell a Python program, and whether its Python has PyTorch; private to src/request. */
#ifndef POLLUX_REQUEST_PYTHON_H
#define POLLUX_REQUEST_PYTHON_H

#include <stdbool.h>

#include "pollux/job.h"

/* True if the command is a Python program whose Python has PyTorch and which does not speak to
 * pollux itself. The program is a Python if it is named so or if its first line names one, as in
 * torchrun and accelerate. Where no torch is at the usual places, that Python is asked once, in the
 * job's environment, and not for longer than PYTHON_PATIENCE_S. A script in the command that has
 * the text "POLLUX_" speaks to pollux. */
#define PYTHON_PATIENCE_S 15
bool python_wants_torch_helper(const struct job_command *c);

#endif
