/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calibrations in the lab book: which short and which long run belong together and what was
 * requested, so that another process can resume a calibration. */
#pragma once

#include "lib/base/base.h"

struct book;

/* The short or the long run. */
struct calibration_phase {
	int64_t length_ns;      /* of INC */
	uint32_t samples;       /* how many to take */
	int64_t central_max_ns; /* set by hand; 0: detect it */
	int64_t run;            /* 0: not begun */
};

enum { SHORT_PHASE, LONG_PHASE, CALIBRATION_PHASES };

enum calibration_state {
	CALIBRATION_OPEN,
	CALIBRATION_DONE,    /* there is a profile */
	CALIBRATION_REFUSED, /* a run is neither an L nor clean */
	N_CALIBRATION_STATES
};

extern const char *const calibration_state_names[N_CALIBRATION_STATES];

struct calibration_plan {
	int64_t id;    /* in the book; 0: not stored */
	char *profile; /* the name it is made for */
	enum calibration_state state;
	/* the process that runs it, as lib/host/process/process.h writes it; NULL: none */
	char *owner;
	int64_t started_ns;
	struct calibration_phase phases[CALIBRATION_PHASES];
	char *backend; /* as requested: "auto", … */
	int cpu;       /* -1: not pinned */
	bool anyway, force, replace, by_et, other_cpus;
	int64_t material_ppm; /* cutoffs that explain less of the delay are left out */
};

void calibration_plan_clear(struct calibration_plan *calibration);

/* A new one, whose id is 0: sets the id, state CALIBRATION_OPEN, and started_ns if it is 0.
 * Otherwise stores what changes while it runs: state, owner, and the runs. */
int book_put_calibration(
	struct book *book, struct calibration_plan *calibration, struct error *err);
/* The calibration of a run; without a run (0), the latest that can be resumed, for that profile
 * (NULL: any), or, `any`, the latest at all. 1: *ret is filled in; 0: there is none. */
int book_find_calibration(struct book *book, int64_t run, const char *profile, bool any,
	struct calibration_plan *ret, struct error *err);
