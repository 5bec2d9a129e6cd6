/* nvml_535.c - as the first drivers 535 had it, with longer entries of processes. */
#define STANDIN_PROCESSES 3
#define STANDIN_LONG_ENTRIES
#include "standin.h"
