/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The number of the sample, in the environment of programs: see sample_number.h. */
#include "measure/sample_number.h"

#include "lib/host/process/privilege.h"

#define ITERATION "HYPERFINE_ITERATION="
#define PADDING "EMP_PADDING="

enum { WIDTH = 20 }; /* of both values together; "warmup-" and ten digits have 17 */

/* The environment points to them. */
static char iteration[sizeof(ITERATION) + WIDTH] = ITERATION;
static char padding[sizeof(PADDING) + WIDTH] = PADDING;

void sample_number_begin(void)
{
	privilege_environment_put(iteration);
	privilege_environment_put(padding);
}

void sample_number_set(int warm_up, uint32_t n)
{
	int used;

	if (warm_up)
		used = snprintf(iteration, sizeof(iteration), ITERATION "warmup-%d", warm_up - 1);
	else
		used = snprintf(iteration, sizeof(iteration), ITERATION "%" PRIu32, n);
	used -= (int)strlen(ITERATION);
	snprintf(padding, sizeof(padding), PADDING "%.*s", WIDTH - used, "--------------------");
}
