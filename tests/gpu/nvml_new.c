/* nvml_new.c - the stand-in for NVML as drivers of 2022 and later have it. */
#define STANDIN_PROCESSES 3
#define STANDIN_P2P
#define STANDIN_TEMPERATURE
#include "standin.h"
