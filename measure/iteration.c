/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The variables of the environment that change with each sample: see iteration.h. */
#include "measure/iteration.h"

#include "lib/host/process/privilege.h"

#include <stdio.h>
#include <string.h>

#define NUMBER "HYPERFINE_ITERATION="
#define PADDING "EMP_PADDING="

enum { WIDTH = 20 }; /* of both values together; "warmup-" and ten digits have 17 */

/* The environment points to them. */
static char number[sizeof(NUMBER) + WIDTH] = NUMBER, padding[sizeof(PADDING) + WIDTH] = PADDING;

int iteration_init(struct error *err)
{
	privilege_environment_put(number);
	privilege_environment_put(padding);
	return 0;
}

void iteration_set(int warm_up, uint32_t sample)
{
	int used;

	if (warm_up)
		used = snprintf(number, sizeof(number), NUMBER "warmup-%d", warm_up - 1);
	else
		used = snprintf(number, sizeof(number), NUMBER "%u", sample - 1);
	used -= (int)strlen(NUMBER);
	snprintf(padding, sizeof(padding), PADDING "%.*s", WIDTH - used, "--------------------");
}
