/* profile_devices.c - pollux profile --devices: measure each kind of device, keep it, show it. */
#include "profile.h"

int profile_devices(const struct profile_options *o, struct err *err)
{
	(void)o;
	return err_set(err, EX_UNAVAILABLE, "devices cannot be measured yet");
}
