/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What EMP 0.3 changed of them: see book_schema.c. */
#include "lib/record/book/book_internal.h"

const char book_step_6[] =
	"ALTER TABLE profile_run ADD COLUMN floor_ns INTEGER CHECK(floor_ns > 0);"
	/* how long the CPUs of a load were idle, and how many they were; NULL: not known */
	"ALTER TABLE load_sample ADD COLUMN idle_ns INTEGER CHECK(idle_ns >= 0);"
	"ALTER TABLE load_sample ADD COLUMN cpus INTEGER CHECK(cpus >= 1);";
