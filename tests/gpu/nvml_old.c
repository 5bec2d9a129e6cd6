/* nvml_old.c - a library too old to be of use. */
#define STANDIN_TOO_OLD
#include "standin.h"
