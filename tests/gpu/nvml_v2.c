/* nvml_v2.c - as drivers 470 to 510 had it. */
#define STANDIN_PROCESSES 2
#include "standin.h"
