/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A lower bound of a proportion that was observed in a few cases. */
#pragma once

#include <stddef.h>

/* The lower end of the one-sided 95 % interval of k out of n (Wilson 1927); 0 for n = 0. */
double proportion_at_least(size_t k, size_t n);
