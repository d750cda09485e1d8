/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page waits of one run of a load. */
#pragma once

#include "lib/host/disk/page_wait_meter.h"
#include "lib/host/process/cgroup.h"
#include "lib/load/page_waits.h"

struct load_waits;

/* When the meters start, and when they stop. meter NULL: *ret is NULL, which the others accept. */
int load_waits_start(struct load_waits **ret, const struct page_wait_meter *meter,
	const struct cgroup *slaves, struct error *err);
void load_waits_stop(struct load_waits *waits);
void load_waits_free(struct load_waits *waits);
DEFINE_FREEP(load_waits)

/* As the lab book has them; page_waits_clear() frees them. */
int load_waits_record(
	const struct load_waits *waits, uint32_t sample, struct page_waits *ret, struct error *err);
