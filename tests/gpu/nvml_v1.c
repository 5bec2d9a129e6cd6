/* nvml_v1.c - as drivers before MIG had it. */
#define STANDIN_PROCESSES 1
#include "standin.h"
