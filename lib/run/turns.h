/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In which order programs take their turns, one sample each in a round. */
#pragma once

#include "lib/base/base.h"

/* order[n] of the round, from 0: the rows of a Williams square (1949), each followed by itself
 * backwards; of two programs ABBA. After two rounds, each pair of programs is balanced against a
 * linear drift; after n (2 n if n is odd), each program has been in every place equally often, and
 * after every other one within a round. */
void turns_balanced(size_t *order, size_t n, uint64_t round);
