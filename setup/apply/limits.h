/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two frequency limits of a cpufreq policy, as an entry has them: "MIN MAX" in kHz. A limit
 * that nobody has asked for is lifted rather than set, since what is read then is the hardware's,
 * or that of a turbo switch. Apart from the journal because only a trial tells: the limits are
 * lifted, and those that come back are asked for. */
#pragma once

#include "setup/apply/journal.h"

/* `now`, which somebody else has set, becomes the value to go back to; of limits, what they have
 * changed. */
void entry_adopt(struct entry *entry, const char *now);
/* Sets `limits` of an entry whose old value is what holds now, by lifting the limits: the caller
 * writes them again. `wider`: the old value may be of a moment when more was possible. 0 if the
 * kernel refuses it. */
void entry_find_limits(struct entry *entry, bool wider);
/* Whether `now` of limits has one that is neither our value nor `back`, nor what the hardware and
 * the switches of turbo leave. It lifts the limits to see that; `last` or `held` then has what
 * these leave, where it is not somebody else's. */
bool entry_has_others_limit(struct entry *entry, const char *back);
/* What to write for limits to be `value` again; the caller frees it. It has no limit where
 * nobody has asked for one. */
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
/* What is asked for of limits that this restore does not take: by another owner, by somebody else,
 * or by both. The caller frees it; NULL: the kernel does not tell. */
char *limits_asked(const struct entry *entry);
