/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a policy, and as a table of name patterns. */
#include "lib/host/system/policy.h"
#include "lib/protocol/names.h"
#include "tests/fuzz/fuzz.h"

static const char *const units[] = {
	"cron.service", "nfs-server.service", "", "*", "systemd-timesyncd.service"};

static void try_policy(const char *text)
{
	_cleanup_(policy_freep) struct policy *policy = NULL;
	struct error err = {};

	if (policy_parse(&policy, text, "the policy", &err) < 0) {
		FUZZ_REFUSED(&err);
		return;
	}
	for (size_t i = 0; i < ELEMENTS(units); i++) {
		const char *unit = policy_unit_of_process(policy, units[i]);

		FUZZ_MUST(!unit || policy_stop(policy, unit));
		if (policy_stop(policy, units[i]) || policy_never(policy, units[i]))
			FUZZ_MUST(policy_knows(policy, units[i]));
	}
}

static void try_names(const char *text)
{
	struct names names = {};
	struct error err = {};

	if (names_parse(&names, text, "the file", &err) < 0) {
		FUZZ_REFUSED(&err);
		return;
	}
	for (size_t i = 0; i < ELEMENTS(units); i++)
		FUZZ_MUST(name_group(names.rows, units[i]));
	names_clear(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	_cleanup_(freep) char *text = fuzz_text(bytes, n);

	try_policy(text);
	try_names(text);
	return 0;
}
