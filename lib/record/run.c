/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Letting go of what a run leaves: see run.h. */
#include "lib/record/run.h"

void run_clear(struct run *run)
{
	free(run->program);
	free(run->command);
	free(run->purpose);
	free(run->state);
	free(run->backend);
	free(run->pt_source);
	free(run->profile);
	free(run->notes);
	*run = (struct run){};
}

void daemons_clear(struct daemons *daemons)
{
	for (size_t i = 0; i < daemons->n; i++) {
		free(daemons->items[i].name);
		free(daemons->items[i].exe);
		free(daemons->items[i].unit);
	}
	free(daemons->items);
	*daemons = (struct daemons){};
}

void profile_clear(struct profile *profile)
{
	for (size_t i = 0; i < profile->n_cutoffs; i++) {
		free(profile->cutoffs[i].daemon);
		free(profile->cutoffs[i].unit);
	}
	free(profile->cutoffs);
	free(profile->name);
	free(profile->environment_digest);
	free(profile->short_run.program);
	free(profile->short_run.l_samples);
	free(profile->long_run.program);
	free(profile->long_run.l_samples);
	*profile = (struct profile){};
}
