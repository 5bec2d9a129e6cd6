/* nvml_bare.c - a library without anything optional. */
#define STANDIN_BARE
#include "standin.h"
