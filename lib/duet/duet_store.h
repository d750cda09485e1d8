/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores what the sampling loop hands over of programs that alternate: the rows of book_duet.h. It
 * stands apart from them, because the book knows no sampling. */
#pragma once

#include "lib/run/sampling.h"

extern const struct together_store duet_store;
