/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading BPF programs, with libbpf's messages caught: they would go to standard error. */
#pragma once

#include "lib/base/error.h"

/* Calls load(context), which opens, loads and attaches a skeleton. If that fails, the first warning of libbpf, which
 * names the cause, becomes the sentence; or, on a kernel without BTF, that (-ENOTSUP). For use with the privileges raised
 * (privilege.h). */
int bpf_load(int (*load)(void *context), void *context, struct error *err);
