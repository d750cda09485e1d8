/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the text of a file of the kernel, or as what a command prints, for every parser of
 * such text. */
#include "lib/base/text.h"
#include "lib/host/accounting/identity.h"
#include "setup/audit/cron.h"
#include "setup/audit/ntp.h"
#include "lib/host/process/process.h"
#include "lib/host/system/kernel.h"
#include "lib/host/systemd/units.h"
#include "tests/fuzz/fuzz.h"

static void try_process(const char *text)
{
	struct process process;

	if (process_parse(text, &process) == 1)
		FUZZ_MUST(process.pid > 0 && strnlen(process.name, 16) < 16);
	process_ref_pid(text);
}

static void try_unit(const char *text)
{
	_cleanup_(freep) char *unit = strdup(text);

	if (identity_parse_cgroup(text, unit))
		FUZZ_MUST(identity_is_unit(unit) && !strchr(unit, '/'));
}

static void try_kernel(const char *text)
{
	_cleanup_(freep) char *apt = kernel_parse_apt(text), *dnf = kernel_parse_dnf(text);
	_cleanup_(freep) char *package = kernel_package(text),
			      *tick = kernel_config_get(text, "CONFIG_HZ");

	_cleanup_(freep) char *version = kernel_parse_version(text, text[0] & 1);
	_cleanup_(argv_freep) char **packages = kernel_packages(text, "6.8.0-45-generic");

	FUZZ_MUST(*packages);
	if (version)
		kernel_compare(version, text);
	FUZZ_MUST(tick);
	FUZZ_MUST(kernel_compare(text, text) == 0);
	if (apt)
		kernel_compare(apt, "6.1.0-10-amd64");
	if (dnf)
		kernel_compare(dnf, "5.14.0-362.el9.x86_64");
}

static void try_clock(const char *text)
{
	_cleanup_(freep) char *chrony = ntp_parse_chrony(text), *ntpq = ntp_parse_ntpq(text);

	FUZZ_MUST(!chrony || strstr(chrony, ", stratum "));
	FUZZ_MUST(!ntpq || strstr(ntpq, ", stratum "));
	FUZZ_MUST(timer_period(text) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	_cleanup_(freep) char *text = fuzz_text(bytes, n);

	try_process(text);
	try_unit(text);
	try_kernel(text);
	try_clock(text);
	return 0;
}
