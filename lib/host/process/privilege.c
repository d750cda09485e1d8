/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Capabilities that an executable's file gives to an ordinary user: see privilege.h. */
#include "lib/host/process/privilege.h"

#include <linux/capability.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <sys/syscall.h>

/* The only capabilities that the observer uses. */
static const cap_value_t wanted[] = {CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN};
static bool borrowed;
static char **of_start; /* NULL: environ has all */

extern char **environ;

static void cap_freep(cap_t *caps)
{
	cap_free(TAKE(*caps));
}

/* Makes the permitted ones of `wanted`, and only those, permitted, and effective or not. */
static void set_capabilities(bool effective)
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

char *privilege_of_file(const char *path)
{
	_cleanup_(cap_freep) cap_t caps = cap_get_file(path);
	char *text = caps ? cap_to_text(caps, NULL) : NULL, *copy = text_copy(text);

	cap_free(text);
	return copy;
}

char **privilege_environment(void)
{
	return of_start ?: environ;
}

void privilege_environment_put(char *assignment)
{
	size_t n = 0;

	if (!of_start) {
		if (putenv(assignment) != 0)
			xalloc_fail();
		return;
	}
	while (of_start[n])
		n++;
	of_start = xreallocarray(of_start, n + 2, sizeof(*of_start));
	memmove(of_start + 1, of_start, (n + 1) * sizeof(*of_start));
	of_start[0] = assignment;
}

void privilege_init(char **argv)
{
	/* The kernel puts the environment after the arguments, and before the name of the file. */
	char *end = getauxval(AT_SECURE) ? (char *)getauxval(AT_EXECFN) : NULL, *text = argv[0];
	size_t n = 0;

	if (end && text) {
		for (char **arg = argv; *arg; arg++)
			text = *arg + strlen(*arg) + 1;
		for (; text < end; text += strlen(text) + 1)
			*array_add(of_start, n) = text;
		array_add(of_start, n); /* the NULL at the end */
	}
	if (getuid() != 0 && geteuid() != 0)
		set_capabilities(false);
}

void privilege_raise(void)
{
	if (borrowed)
		set_capabilities(true);
}

void privilege_lower(void)
{
	if (borrowed)
		set_capabilities(false);
}

void privilege_forget(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	if (borrowed)
		syscall(SYS_capset, &header, none);
}

/* For settings. */
static const cap_value_t settings[] = {
	CAP_DAC_OVERRIDE, /* files of /sys and /proc/sys belong to root, also in a user namespace */
	CAP_SYS_ADMIN,    /* some of /proc/sys/kernel need it in addition to the file's mode */
	CAP_KILL,         /* signals for the command of apply --for */
	CAP_SYS_PTRACE,   /* who holds a socket or a tunnel; not needed for settings */
};

int privilege_keep_for_settings(struct error *err)
{
	_cleanup_(cap_freep) cap_t now = cap_get_proc(), kept = cap_init();

	if (!now || !kept)
		return error_os(err, -errno, "cannot read the capabilities");
	for (size_t i = 0; i < ELEMENTS(settings); i++) {
		cap_flag_value_t have = CAP_CLEAR;
		char *name;

		if (cap_get_flag(now, settings[i], CAP_PERMITTED, &have) == 0 && have == CAP_SET) {
			cap_set_flag(kept, CAP_PERMITTED, 1, &settings[i], CAP_SET);
			cap_set_flag(kept, CAP_EFFECTIVE, 1, &settings[i], CAP_SET);
			continue;
		}
		if (settings[i] == CAP_SYS_PTRACE)
			continue;
		name = cap_to_name(settings[i]);
		if (geteuid() != 0)
			error_say(err, -EPERM,
				"changing settings needs root: the capability %s is missing",
				name ?: "?");
		else
			error_say(err, -EPERM,
				"changing settings needs the capability %s, which root does not "
				"have here; the host decides: run emp-setup there",
				name ?: "?");
		cap_free(name);
		return -EPERM;
	}
	if (cap_set_proc(kept) < 0)
		return error_os(err, -errno, "cannot give up capabilities");
	return 0;
}
