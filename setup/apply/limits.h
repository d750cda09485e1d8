/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two frequency limits of a cpufreq policy, as an entry has them: "MIN MAX" in kHz. A limit
 * that nobody has asked for is lifted rather than set, since what is read then is the hardware's,
 * or that of a turbo switch. Apart from the journal because only a trial tells: the limits are
 * lifted, and those that come back are asked for. */
#pragma once

#include "setup/apply/journal.h"
#include "lib/host/system/kernel_setting.h"

/* Makes `now`, which somebody else has set, the value to go back to; of two limits, only the one
 * that they have changed. */
void entry_adopt(struct entry *entry, const char *now);
/* Finds out which of the old limits nobody has set, and stores it in entry->limits: it lifts both
 * limits and sees which ones come back. The file must still have its old value, and the caller
 * writes the limits again. `wider`: the old value may be of a moment when more was possible.
 * Nothing is stored if the kernel refuses it. */
void entry_find_limits(struct entry *entry, bool wider);
/* Whether one of the present limits is somebody else's: neither ours, nor that of `back`, nor what
 * the hardware and the turbo switches allow at most. It lifts the limits to see that, and stores
 * what they allow in `held` or `last`, where the limit is not somebody else's. */
bool entry_has_others_limit(struct entry *entry, const char *back);
/* What to write so that the limits are `value` again: no limit where nobody has set one. The caller
 * frees it. */
char *entry_limits(const struct entry *entry, const char *value);
/* Sets again what a restore that was killed has lost of somebody else's limits. */
void journal_set_others_limits(struct journal *journal);

/* Whether one limit has its old value and the other what we set, as a restore leaves them that was
 * killed between the two: they are two files. */
bool limits_are_half_restored(const struct entry *entry, const char *back);
/* Restores limits. Those that nobody has asked for are lifted rather than set to what was read.
 * `known`: what else narrows them is restored. */
struct kernel_setting_result limits_write(struct entry *entry, bool known);
/* What to write so that of limits that somebody else has changed, only what they have changed is
 * left alone: the other one would stay as we have set it. The caller frees it. */
char *limits_of_others(const struct entry *entry);
/* What to write for limits that this restore does not take: those of another owner, of somebody
 * else, or one of each. The caller frees it; NULL: the kernel does not tell. */
char *limits_asked(const struct entry *entry);
