/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said where the accounting cannot be had. */
#include "tests/unit/check.h"

#include "lib/base/tool.h"
#include "lib/host/accounting/accounting.h"
#include "tests/unit/tree.h"

#include <linux/capability.h>

#define BIT(capability) (UINT64_C(1) << (capability))

#define KERNEL .kernel_major = 6, .kernel_minor = 1
#define FEATURES .has_btf = true, KERNEL
#define FIRST .initial_user_namespace = true, .initial_pid_namespace = true
#define RIGHTS .capabilities = BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_NET_ADMIN)

static const struct accounting_support good = {RIGHTS, FIRST, FEATURES};

TEST(a_machine_that_has_all_is_fit_for_both)
{
	struct accounting_support admin = good;
	struct error err = {};

	assert_int_equal(accounting_support_has(&good, ACCOUNTING_BPF, &err), 0);
	assert_int_equal(accounting_support_has(&good, ACCOUNTING_TASKSTATS, &err), 0);
	admin.capabilities = BIT(CAP_SYS_ADMIN);
	assert_int_equal(accounting_support_has(&admin, ACCOUNTING_BPF, &err), 0);
	assert_string_equal(err.text, "");
}

TEST(what_is_missing_is_named)
{
	enum accounting_backend bpf = ACCOUNTING_BPF, taskstats = ACCOUNTING_TASKSTATS;
	const struct {
		struct accounting_support support;
		enum accounting_backend backend;
		int r;
		const char *words;
	} cases[] = {
		{{.capabilities = 0, FIRST, FEATURES}, bpf, -EPERM,
			"needs CAP_BPF and CAP_PERFMON"},
		{{BIT(CAP_BPF), FIRST, FEATURES}, bpf, -EPERM, "needs CAP_PERFMON"},
		{{BIT(CAP_PERFMON), FIRST, FEATURES}, bpf, -EPERM, "needs CAP_BPF"},
		{{BIT(CAP_NET_ADMIN), FIRST, FEATURES}, bpf, -EPERM,
			"needs CAP_BPF and CAP_PERFMON"},
		{{BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_ADMIN), FIRST, FEATURES}, taskstats,
			-EPERM, "needs CAP_NET_ADMIN"},
		{{RIGHTS, FIRST, .has_btf = true, .kernel_major = 5, .kernel_minor = 4}, bpf,
			-ENOTSUP, "needs Linux 5.9, this is 5.4"},
		{{RIGHTS, FIRST, KERNEL}, bpf, -ENOTSUP, "the kernel has no BTF"},
		{{RIGHTS, FIRST, FEATURES, .lockdown = true}, bpf, -EPERM, "locked down"},
		{{RIGHTS, .initial_user_namespace = true, FEATURES}, bpf, -ENOTSUP, "--pid=host"},
		{{RIGHTS, .initial_user_namespace = true, FEATURES}, taskstats, -ENOTSUP,
			"--pid=host"},
		{{RIGHTS, .initial_pid_namespace = true, FEATURES}, bpf, -EPERM,
			"rootless container"},
		{{RIGHTS, .initial_pid_namespace = true, FEATURES}, taskstats, -ENOTSUP,
			"not available in a container"},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		struct error err = {};

		assert_int_equal(accounting_support_has(&cases[i].support, cases[i].backend, &err),
			cases[i].r);
		if (!strstr(err.text, cases[i].words))
			fail_msg("'%s' is not in '%s'", cases[i].words, err.text);
	}
}

TEST(what_is_missing_takes_a_few_words)
{
	const struct accounting_support no_rights = {FIRST, FEATURES},
					contained = {.initial_user_namespace = true, FEATURES},
					no_btf = {RIGHTS, FIRST, KERNEL};

	assert_string_equal(
		accounting_support_missing(&no_rights), "needs root or file capabilities");
	assert_string_equal(accounting_support_missing(&contained), "not available in a container");
	assert_string_equal(accounting_support_missing(&no_btf), "not supported by this kernel");
}

TEST_IN_TREE(what_there_is_is_read_from_files)
{
	struct accounting_support support;

	tree_put("proc/self/status",
		"Name:\tx\nCapPrm:\t000001ffffffffff\nCapEff:\t0000000000001000\n");
	tree_put("proc/self/uid_map", "         0          0 4294967295\n");
	tree_link("proc/self/ns/pid", "pid:[4026531836]");
	tree_put("sys/kernel/btf/vmlinux", "");
	tree_put("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	support = accounting_support_read(tree.fd);
	assert_int_equal(support.capabilities, BIT(CAP_NET_ADMIN));
	assert_true(
		support.initial_user_namespace && support.initial_pid_namespace && support.has_btf);
	assert_false(support.lockdown);
	assert_true(support.kernel_major >= 5);
}

TEST_IN_TREE(a_rootless_container_is_recognised)
{
	struct accounting_support support;

	tree_put("proc/self/uid_map", "         0       1000          1\n");
	tree_link("proc/self/ns/pid", "pid:[4026532215]");
	tree_put("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	support = accounting_support_read(tree.fd);
	assert_int_equal(support.capabilities, 0);
	assert_false(
		support.initial_user_namespace || support.initial_pid_namespace || support.has_btf);
	assert_true(support.lockdown);
}

TEST(each_backend_is_parsed_by_its_name)
{
	struct error err = {};
	int backend;

	for (int i = 0; i < N_ACCOUNTING_BACKENDS; i++) {
		assert_int_equal(option_choice(accounting_backend_names[i], "--accounting",
					 accounting_backend_names, &backend, &err),
			0);
		assert_int_equal(backend, i);
	}
	assert_int_equal(
		option_choice("ebpf", "--accounting", accounting_backend_names, &backend, &err),
		-EINVAL);
	assert_string_equal(err.text, "--accounting must be auto, bpf, taskstats or none, "
				      "not 'ebpf' (did you mean 'bpf'?)");
	assert_int_equal(accounting_state(NULL)->backend, ACCOUNTING_NONE);
}
