/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The BPF programs that are loaded and run at events of the kernel: scheduler, system calls,
 * functions, perf events. Those that filter packets or devices run only where a program uses
 * these. */
#pragma once

#include "lib/base/base.h"

#include <bpf/libbpf.h>

/* Their names ("name (kind)") with ", " between, without those of EMP's own accounting; the caller
 * frees it. *ret_n is how many there are. -EPERM for ordinary users; -errno without a sentence. */
int bpf_programs_list(char **ret, size_t *ret_n);

/* Opening, loading and attaching a skeleton stands between these two, with the privileges raised
 * (privilege.h). libbpf's messages would go to standard error; after bpf_load_begin() they do not.
 * bpf_load_end() returns the result, with the first warning of libbpf, which names the cause, as
 * the sentence of a failure; or, on a kernel without BTF, that (-ENOTSUP). */
void bpf_load_begin(void);
int bpf_load_end(int r, struct error *err);

/* BPF programs whose references to the kernel's structures and functions are resolved once after
 * each boot. libbpf reads all of the kernel's BTF to resolve them, which takes 25 ms of CPU time.
 * Root keeps the result in a file, which is used if it belongs to root and was made of this object
 * since this boot. The kernel verifies the programs every time. */

enum { BPF_RESOLVED_MAX = 16 };

/* Programs that are loaded. */
struct bpf_resolved {
	struct bpf_loaded {
		const struct bpf_program *program;
		int fd, link;
	} items[BPF_RESOLVED_MAX];
	size_t n;
};

/* Loads the programs of an open skeleton that have autoload, as its own load function does, into an
 * empty `resolved`. `file` in `directory` (-1: nothing is kept) has them resolved; each choice of
 * programs needs a file of its own. */
int bpf_resolved_load(struct bpf_resolved *resolved, struct bpf_object_skeleton *skeleton,
	int directory, const char *file);

/* Attaches all that are not attached yet: to tracepoints of the type tp_btf, and iterators. */
int bpf_resolved_attach(struct bpf_resolved *resolved);

/* The descriptor of one of them; -ENOENT: it is not loaded. */
int bpf_resolved_program(const struct bpf_resolved *resolved, const struct bpf_program *program);

/* That of its link, which attaches it if it is not yet; a negative errno. */
int bpf_resolved_link(struct bpf_resolved *resolved, const struct bpf_program *program);

void bpf_resolved_clear(struct bpf_resolved *resolved);
