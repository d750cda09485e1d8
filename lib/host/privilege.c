/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities that an executable's file gives to an ordinary user: see privilege.h. */
#include "lib/host/privilege.h"

#include "lib/base/cleanup.h"

#include <linux/capability.h>
#include <sys/capability.h>
#include <sys/syscall.h>

/* What the observer can use, and nothing else. */
static const cap_value_t wanted[] = {CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN};
static bool borrowed;

static void cap_freep(cap_t *caps)
{
	cap_free(*caps);
}

/* Makes the permitted ones of `wanted`, and only those, permitted, and effective or not. */
static void set(bool effective)
{
	_cleanup_(cap_freep) cap_t now = cap_get_proc(), then = cap_init();

	for (size_t i = 0; now && then && i < ELEMENTS(wanted); i++) {
		cap_flag_value_t permitted = CAP_CLEAR;

		cap_get_flag(now, wanted[i], CAP_PERMITTED, &permitted);
		if (permitted != CAP_SET)
			continue;
		borrowed = true;
		cap_set_flag(then, CAP_PERMITTED, 1, &wanted[i], CAP_SET);
		if (effective)
			cap_set_flag(then, CAP_EFFECTIVE, 1, &wanted[i], CAP_SET);
	}
	if (then)
		cap_set_proc(then);
}

void privilege_init(void)
{
	if (getuid() != 0 && geteuid() != 0)
		set(false);
}

bool privilege_borrowed(void)
{
	return borrowed;
}

void privilege_raise(void)
{
	if (borrowed)
		set(true);
}

void privilege_lower(void)
{
	if (borrowed)
		set(false);
}

void privilege_forget(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	if (borrowed)
		syscall(SYS_capset, &header, none);
}
