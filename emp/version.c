/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "emp --version" prints: see version.h. */
#include "emp/version.h"

#include "emp/known.h"
#include "lib/base/terminal.h"
#include "lib/host/process/privilege.h"
#include "lib/host/process/subprocess.h"

/* "emp-measure (cap_bpf,…=p), emp-load (…)"; "none" if no file of the suite has any. The caller
 * frees it. */
static char *files_with_capabilities(void)
{
	char *all = NULL;

	for (const struct known_tool *tool = known_tools; tool->name; tool++) {
		_cleanup_(freep) char *path = NULL, *capabilities = NULL;

		if (suite_file_find(tool->name, &path, NULL) < 0)
			continue;
		capabilities = privilege_of_file(path);
		if (capabilities)
			text_append(&all, ", ", "%s (%s)", tool->name, capabilities);
	}
	return all ?: xstrdup("none; see FOR ORDINARY USERS in emp-measure(1)");
}

int version_print(struct error *err)
{
	_cleanup_(freep) char *gnuplot = NULL, *capabilities = files_with_capabilities();
	bool btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0;

	executable_find("gnuplot", &gnuplot, NULL);
	printf("emp %s\n", EMP_VERSION);
	printf("  BPF                yes (libbpf " EMP_LIBBPF "); %s\n",
		btf ? "the kernel has BTF" : "this kernel has no BTF, so taskstats is used");
	printf("  taskstats          yes (libmnl " EMP_LIBMNL ")\n");
	printf("  gnuplot            %s\n",
		gnuplot ? terminal_text(gnuplot) : "not found: no pictures");
	terminal_say(stdout, 21, "  file capabilities  %s", capabilities);
	return 0;
}
