/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frees parameters, which the tool has until its end. */
#pragma once

#include "measure/parameters.h"

static inline void parameters_clear(struct parameters *p)
{
	for (size_t i = 0; i < p->n; i++) {
		for (size_t k = 0; k < p->items[i].n; k++)
			free(p->items[i].values[k]);
		free(p->items[i].values);
		free(p->items[i].name);
	}
	free(p->items);
	*p = (struct parameters){};
}
