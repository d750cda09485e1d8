/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks of an audit: see check.h. */
#include "setup/check.h"

#include "lib/base/text.h"

#include <stdarg.h>

const struct check checks[] = {
	{
		.id = "svc.units",
		.level = 'A',
		.step = "EMPv1 daemons",
		.wanted = "no non-critical service runs",
		.why = "a daemon that wakes up inside a sample takes the CPU or its caches away",
		.how = "systemctl stop %s",
		.undo = "systemctl start %s",
		.who = "EMP, LLVM, krun, tuned",
		.decide = check_services,
	},
	{
		.id = "svc.timers",
		.level = 'A',
		.step = "EMPv1 daemons",
		.wanted = "no non-critical timer waits",
		.why = "a timer starts its service in the middle of a run of hours",
		.how = "systemctl stop %s",
		.undo = "systemctl start %s (a persistent timer that is overdue runs its service at once)",
		.who = "EMP, krun",
		.decide = check_timers,
	},
	{
		.id = "ntp.on",
		.level = 'A',
		.step = "EMPv2 time",
		.wanted = "one time daemon, synchronised",
		.why = "a clock that nobody disciplines drifts by seconds a day, and jumps when somebody "
		       "sets it",
		.how = "install chrony, or switch one daemon on: timedatectl set-ntp true",
		.undo = "timedatectl set-ntp false, if it was off before",
		.who = "EMP, BenchExec (krun asks for the opposite)",
		.decide = check_ntp,
	},
	{
		.id = "freq.driver",
		.level = 'A',
		.step = "EMPv3 frequency",
		.wanted = "recorded",
		.why = "the driver decides which of the other switches there are, and what they mean",
		.how = "nothing to do",
		.undo = "nothing to undo",
		.who = "pyperf, krun, tuned",
		.decide = check_frequency_driver,
	},
	{
		.id = "freq.governor",
		.level = 'A',
		.step = "EMPv3 frequency",
		.wanted = "performance on all CPUs",
		.why = "other governors change the clock rate with the load, so that a program times itself",
		.how = "write performance into /sys/devices/system/cpu/cpufreq/policy*/scaling_governor",
		.undo = "write the value shown here",
		.who = "pyperf, ReBench, krun, temci, tuned, LLVM",
		.decide = check_governor,
	},
	{
		.id = "freq.min",
		.level = 'A',
		.step = "EMPv3 frequency",
		.wanted = "the base frequency, not less",
		.why = "a clock that may fall takes its time to rise again",
		.how = "write base_frequency into /sys/devices/system/cpu/cpufreq/policy*/scaling_min_freq",
		.undo = "write the value shown here",
		.who = "pyperf",
		.decide = check_min_frequency,
	},
	{
		.id = "turbo.intel",
		.level = 'A',
		.step = "EMPv3 turbo",
		.wanted = "no_turbo = 1",
		.why = "how long turbo lasts hangs on temperature and on what the other CPUs do",
		.how = "write 1 into /sys/devices/system/cpu/intel_pstate/no_turbo, after the governor",
		.undo = "write 0",
		.who = "EMP, pyperf, ReBench, temci, LLVM, BenchExec",
		.decide = check_turbo_intel,
	},
	{
		.id = "turbo.boost",
		.level = 'A',
		.step = "EMPv3 turbo",
		.wanted = "boost = 0",
		.why = "how long turbo lasts hangs on temperature and on what the other CPUs do",
		.how = "write 0 into /sys/devices/system/cpu/cpufreq/boost",
		.undo = "write 1",
		.who = "EMP, temci, BenchExec",
		.decide = check_turbo_boost,
	},
	{
		.id = "turbo.policy",
		.level = 'A',
		.step = "EMPv3 turbo",
		.wanted = "boost = 0 in every policy",
		.why = "how long turbo lasts hangs on temperature and on what the other CPUs do",
		.how = "write 0 into /sys/devices/system/cpu/cpufreq/policy*/boost; no such file: the "
		       "firmware's setup",
		.undo = "write 1",
		.who = "EMP (tuned's latency-performance switches it on)",
		.decide = check_turbo_policy,
	},
	{
		.id = "speedstep",
		.level = 'A',
		.step = "EMPv3 SpeedStep",
		.wanted = "off in firmware, or a fixed frequency",
		.why = "a clock rate that changes makes equal work take different times",
		.how = "switch it off in the firmware's setup, or set freq.governor, freq.min and turbo as "
		       "above",
		.undo = "the firmware's setup",
		.who = "EMP",
		.decide = check_speedstep,
	},
	{
		.id = "kernel.version",
		.level = 'A',
		.step = "EMPv4 kernel",
		.wanted = "the newest of this system",
		.why = "one fix in a kernel took the spread of the paper's times from 8.7 ms to 1.8 ms",
		.how = "install the newest kernel and reboot",
		.undo = "boot the old kernel from the boot menu",
		.who = "EMP",
		.decide = check_kernel_version,
	},
	{
		.id = "kernel.pending",
		.level = 'A',
		.step = "EMPv4 kernel",
		.wanted = "no reboot is waited for",
		.why = "what is installed and what runs differ, and the next reboot ends the comparison",
		.how = "reboot",
		.undo = "nothing to undo",
		.who = "EMP",
		.decide = check_kernel_pending,
	},
	{
		.id = "delayacct",
		.level = 'A',
		.step = "accounting",
		.wanted = "0 or 1: CPU times do not need it",
		.why = "only waiting times (disk, swap, interrupts) are missing while it is 0",
		.how = "sysctl kernel.task_delayacct=1, if waiting times are wanted",
		.undo = "sysctl kernel.task_delayacct=0",
		.who = "EMP",
		.decide = check_delayacct,
	},
	{},
};

const char *check_state_word(enum check_state state)
{
	static const char *const words[] = {
		[CHECK_OK] = "ok",
		[CHECK_OFF] = "off",
		[CHECK_ABSENT] = "absent",
		[CHECK_UNKNOWN] = "unknown",
		[CHECK_REFUSED] = "refused",
	};

	return words[state];
}

void finding_set(struct finding *finding, enum check_state state, const char *format, ...)
{
	va_list ap;

	free(finding->value);
	va_start(ap, format);
	if (vasprintf(&finding->value, format, ap) < 0)
		finding->value = NULL;
	va_end(ap);
	finding->state = state;
}

void finding_add_item(struct finding *finding, const char *item)
{
	char *longer = text_format("%s%s%s", finding->items ?: "", finding->items ? " " : "", item);

	if (!longer)
		return;
	free(finding->items);
	finding->items = longer;
}

void finding_clear(struct finding *finding)
{
	free(finding->value);
	free(finding->items);
	*finding = (struct finding){};
}

void check_delayacct(const struct facts *f, struct finding *ret)
{
	if (f->delayacct < 0)
		finding_set(ret, CHECK_ABSENT, "this kernel has no kernel.task_delayacct");
	else
		finding_set(ret, CHECK_OK, "%d", (int)f->delayacct);
}
