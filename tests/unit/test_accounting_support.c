/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said where the accounting cannot be had. */
#include "tests/unit/check.h"

#include "lib/base/cleanup.h"
#include "lib/host/accounting/accounting.h"
#include "tests/unit/tree.h"

#include <linux/capability.h>

#define BIT(capability) (UINT64_C(1) << (capability))

static const struct accounting_support good = {
	.capabilities = BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_NET_ADMIN),
	.initial_user_namespace = true,
	.initial_pid_namespace = true,
	.has_btf = true,
	.kernel_major = 6,
	.kernel_minor = 1,
};

typedef int support_check(const struct accounting_support *support, struct error *err);

static void assert_refused(
	support_check *check, const struct accounting_support *support, int want, const char *words)
{
	struct error err = {};

	assert_int_equal(check(support, &err), want);
	if (!strstr(err.text, words))
		fail_msg("'%s' is not in '%s'", words, err.text);
}

TEST(a_machine_that_has_all_is_fit_for_both)
{
	struct accounting_support admin = good;
	struct error err = {};

	assert_int_equal(accounting_support_has_bpf(&good, &err), 0);
	assert_int_equal(accounting_support_has_taskstats(&good, &err), 0);
	admin.capabilities = BIT(CAP_SYS_ADMIN);
	assert_int_equal(accounting_support_has_bpf(&admin, &err), 0);
	assert_string_equal(err.text, "");
}

TEST(the_capability_that_is_missing_is_named)
{
	static const struct {
		uint64_t capabilities;
		const char *words;
	} rows[] = {
		{0, "needs CAP_BPF and CAP_PERFMON"},
		{BIT(CAP_BPF), "needs CAP_PERFMON"},
		{BIT(CAP_PERFMON), "needs CAP_BPF"},
		{BIT(CAP_NET_ADMIN), "needs CAP_BPF and CAP_PERFMON"},
	};
	struct accounting_support support = good;

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		support.capabilities = rows[i].capabilities;
		assert_refused(accounting_support_has_bpf, &support, -EPERM, rows[i].words);
	}
	support.capabilities = BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN);
	assert_refused(accounting_support_has_taskstats, &support, -EPERM, "needs CAP_NET_ADMIN");
}

TEST(an_old_kernel_and_one_without_btf_have_words_of_their_own)
{
	struct accounting_support support = good;

	support.kernel_major = 5;
	support.kernel_minor = 4;
	assert_refused(accounting_support_has_bpf, &support, -ENOTSUP, "needs Linux 5.9, this is 5.4");
	support = good;
	support.has_btf = false;
	assert_refused(accounting_support_has_bpf, &support, -ENOTSUP, "the kernel has no BTF");
	support = good;
	support.lockdown = true;
	assert_refused(accounting_support_has_bpf, &support, -EPERM, "locked down");
}

TEST(a_container_has_words_of_its_own)
{
	struct accounting_support support = good;

	support.initial_pid_namespace = false;
	assert_refused(accounting_support_has_bpf, &support, -ENOTSUP, "--pid=host");
	assert_refused(accounting_support_has_taskstats, &support, -ENOTSUP, "--pid=host");
	support = good;
	support.initial_user_namespace = false;
	assert_refused(accounting_support_has_bpf, &support, -EPERM, "rootless container");
	assert_refused(accounting_support_has_taskstats, &support, -ENOTSUP, "not available in a container");
}

TEST(what_is_missing_takes_a_few_words)
{
	struct accounting_support support = good;

	support.capabilities = 0;
	assert_string_equal(accounting_support_missing(&support), "needs root or file capabilities");
	support.initial_pid_namespace = false;
	assert_string_equal(accounting_support_missing(&support), "not available in a container");
	support = good;
	support.has_btf = false;
	assert_string_equal(accounting_support_missing(&support), "not supported by this kernel");
}

TEST_IN_TREE(what_there_is_is_read_from_files)
{
	struct accounting_support support;

	tree_put("proc/self/status", "Name:\tx\nCapPrm:\t000001ffffffffff\nCapEff:\t0000000000001000\n");
	tree_put("proc/self/uid_map", "         0          0 4294967295\n");
	tree_link("proc/self/ns/pid", "pid:[4026531836]");
	tree_put("sys/kernel/btf/vmlinux", "");
	tree_put("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	accounting_support_read(&support, tree.fd);
	assert_int_equal(support.capabilities, BIT(CAP_NET_ADMIN));
	assert_true(support.initial_user_namespace && support.initial_pid_namespace && support.has_btf);
	assert_false(support.lockdown);
	assert_true(support.kernel_major >= 5);
}

TEST_IN_TREE(a_rootless_container_is_recognised)
{
	struct accounting_support support;

	tree_put("proc/self/uid_map", "         0       1000          1\n");
	tree_link("proc/self/ns/pid", "pid:[4026532215]");
	tree_put("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	accounting_support_read(&support, tree.fd);
	assert_int_equal(support.capabilities, 0);
	assert_false(support.initial_user_namespace || support.initial_pid_namespace || support.has_btf);
	assert_true(support.lockdown);
}

TEST(each_backend_is_parsed_by_its_name)
{
	enum accounting_backend backend;
	struct error err = {};

	for (int i = 0; i < N_ACCOUNTING_BACKENDS; i++) {
		assert_int_equal(
			accounting_backend_parse(accounting_backend_name(i), "--accounting", &backend, &err),
			0);
		assert_int_equal(backend, i);
	}
	assert_int_equal(accounting_backend_parse("ebpf", "--accounting", &backend, &err), -EINVAL);
	assert_string_equal(err.text,
		"--accounting must be auto, bpf, taskstats or none, not 'ebpf' (did you mean 'bpf'?)");
	assert_int_equal(accounting_backend_of(NULL), ACCOUNTING_NONE);
}
