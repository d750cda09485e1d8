/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keeps a source from interrupting a CPU. */
#include "lib/jitter/jitter_remedy.h"

#include "tests/unit/check.h"

static struct remedy remedy(enum source_kind kind, const char *name, const char *unit)
{
	const struct source source = {1, (char *)name, NULL, (char *)unit, kind};

	return jitter_remedy(&source, 3, NULL, false);
}

static void assert_remedy(enum source_kind kind, const char *name, const char *unit,
	const char *want, const char *text)
{
	struct remedy r = remedy(kind, name, unit);

	assert_string_equal(remedy_kind_names[r.kind], want);
	assert_string_equal(r.how, text);
}

TEST(each_kind_of_source_has_its_remedy)
{
	const char *irqs = "emp-setup apply --cpu 3 --only irq.default,irq.each";

	assert_remedy(
		SOURCE_VECTOR, "local_timer", NULL, "boot", "boot with nohz_full=3 isolcpus=3");
	assert_remedy(
		SOURCE_SOFTIRQ, "softirq:TIMER", NULL, "boot", "boot with nohz_full=3 isolcpus=3");
	assert_remedy(SOURCE_SOFTIRQ, "softirq:HRTIMER", NULL, "boot",
		"boot with nohz_full=3 isolcpus=3");
	assert_remedy(SOURCE_SOFTIRQ, "softirq:RCU", NULL, "boot", "boot with rcu_nocbs=3");
	assert_remedy(SOURCE_SOFTIRQ, "softirq:NET_RX", NULL, "irq-affinity", irqs);
	assert_remedy(SOURCE_IRQ, "irq27:virtio0", NULL, "irq-affinity", irqs);
	assert_remedy(SOURCE_KERNEL, "ksoftirqd/3", NULL, "irq-affinity", irqs);
	assert_remedy(SOURCE_KERNEL, "kworker:vmstat_update", NULL, "setting",
		"emp-setup apply --only vmstat");
	assert_remedy(SOURCE_NMI, "nmi", NULL, "setting", "emp-setup apply --only nmi");
	assert_remedy(SOURCE_KERNEL, "kworker/u", NULL, "isolate", "emp-setup apply --isolate 3");
	assert_int_equal(remedy(SOURCE_KERNEL, "kworker:flush_to_ldisc", NULL).kind, REMEDY_NONE);
	assert_int_equal(remedy(SOURCE_FAULT, "page_fault_user", NULL).kind, REMEDY_PROGRAM);
	assert_int_equal(remedy(SOURCE_VECTOR, "call_function_single", NULL).kind, REMEDY_NONE);
}

TEST(a_service_is_stopped_by_the_policy_if_that_lists_it)
{
	const struct source source = {
		1, (char *)"backupd", NULL, (char *)"backup.service", SOURCE_PROCESS};

	assert_string_equal(
		jitter_remedy(&source, 3, NULL, false).how, "systemctl stop backup.service");
	assert_string_equal(jitter_remedy(&source, 3, NULL, true).how,
		"emp-setup apply --only svc.units,svc.timers");
	assert_int_equal(jitter_remedy(&source, 3, "the network", true).kind, REMEDY_ISOLATE);
}

TEST(what_is_no_service_is_kept_off_the_cpu)
{
	assert_remedy(SOURCE_PROCESS, "make", "session-1.scope", "isolate",
		"emp-setup apply --isolate 3");
	assert_remedy(SOURCE_PROCESS, "make", NULL, "isolate", "emp-setup apply --isolate 3");
	assert_remedy(
		SOURCE_PROCESS, "x", "user@1000.service", "isolate", "emp-setup apply --isolate 3");
}

TEST(of_several_cpus_none_is_named)
{
	const struct source source = {1, (char *)"make", NULL, NULL, SOURCE_PROCESS};

	assert_string_equal(
		jitter_remedy(&source, -1, NULL, false).how, "emp-setup apply --isolate N");
}

TEST(every_kind_has_some)
{
	for (enum source_kind kind = 0; kind < N_SOURCE_KINDS; kind++)
		assert_true(strlen(remedy(kind, "whatever", NULL).how) > 0);
}
