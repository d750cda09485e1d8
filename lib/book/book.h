/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lab book: machines, environments, runs, samples, executions, calibrations and profiles in one
 * SQLite file. This is all of it, for those who use it; each header below is a module of its own.
 *
 * No other folder uses SQL, but for the tables of features (sql.h). Each sample is a transaction. A
 * file that is of a newer version, of another program, read-only, full or damaged has its own error
 * message. */
#pragma once

#include "lib/book/book_calibrations.h"
#include "lib/book/book_machines.h"
#include "lib/book/book_open.h"
#include "lib/book/book_pending.h"
#include "lib/book/book_profiles.h"
#include "lib/book/book_results.h"
#include "lib/book/book_runs.h"
#include "lib/book/book_samples.h"
#include "lib/book/book_sources.h"
#include "lib/book/book_transaction.h"
#include "lib/book/book_wait.h"
