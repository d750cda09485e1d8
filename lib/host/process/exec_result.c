/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executions of programs: see exec_result.h. */
#include "lib/host/process/exec_result.h"

#include <sys/resource.h>

/* What a member is in a sum of executions. */
enum in_sum {
	OF_THE_FIRST,
	FIRST_NOT_0,
	GREATEST,
	TOTAL,    /* the mean is the total, too */
	DIVISIBLE /* a total, which the mean divides */
};

/* One row for each member: what it is in a sum, and what it is before it is known. -1 stays where
 * nobody measures it, such as in a load. A member without a row does not compile. */
#define EXEC_RESULT_MEMBERS(ROW)                \
	ROW(end, OF_THE_FIRST, PROGRAM_ENDED)   \
	ROW(pid, OF_THE_FIRST, 0)               \
	ROW(wait_status, FIRST_NOT_0, 0)        \
	ROW(left_behind, TOTAL, 0)              \
	ROW(killed, TOTAL, 0)                   \
	ROW(escaped, FIRST_NOT_0, false)        \
	ROW(start_ns, OF_THE_FIRST, 0)          \
	ROW(start_raw_ns, OF_THE_FIRST, 0)      \
	ROW(et_ns, DIVISIBLE, 0)                \
	ROW(end_delay_ns, OF_THE_FIRST, 0)      \
	ROW(late_ns, GREATEST, 0)               \
	ROW(pt_ns, DIVISIBLE, 0)                \
	ROW(user_ns, DIVISIBLE, 0)              \
	ROW(system_ns, DIVISIBLE, 0)            \
	ROW(before_ns, OF_THE_FIRST, 0)         \
	ROW(max_rss_bytes, GREATEST, 0)         \
	ROW(voluntary_switches, DIVISIBLE, 0)   \
	ROW(involuntary_switches, DIVISIBLE, 0) \
	ROW(wait_before_ns, OF_THE_FIRST, -1)   \
	ROW(wait_ns, OF_THE_FIRST, -1)

struct exec_member {
	size_t offset, size;
	enum in_sum in_sum;
	int64_t none;
};

#define EXEC_MEMBER(name, in_sum, none)                                                          \
	{offsetof(struct exec_result, name), sizeof(((struct exec_result *)NULL)->name), in_sum, \
		none},
static const struct exec_member exec_members[] = {EXEC_RESULT_MEMBERS(EXEC_MEMBER)};

/* Nothing but a check by the compiler: one initialiser for each row. If the struct has more members
 * than the table has rows, one of them lacks an initialiser, which is an error here. */
#define ONE_INITIALISER(name, in_sum, none) 0,
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wmissing-field-initializers"
_Static_assert(sizeof((struct exec_result){EXEC_RESULT_MEMBERS(ONE_INITIALISER)}) > 0,
	"each member of struct exec_result has a row");
#pragma GCC diagnostic pop

static int64_t exec_member_get(const struct exec_result *result, const struct exec_member *member)
{
	const char *at = (const char *)result + member->offset;

	if (member->size == sizeof(int64_t))
		return *(const int64_t *)at;
	if (member->size == sizeof(int))
		return *(const int *)at;
	return *(const bool *)at;
}

static void exec_member_set(
	struct exec_result *result, const struct exec_member *member, int64_t value)
{
	char *at = (char *)result + member->offset;

	if (member->size == sizeof(int64_t))
		*(int64_t *)at = value;
	else if (member->size == sizeof(int))
		*(int *)at = (int)value;
	else
		*(bool *)at = value;
}

void exec_result_clear(struct exec_result *result)
{
	for (size_t i = 0; i < ELEMENTS(exec_members); i++)
		exec_member_set(result, &exec_members[i], exec_members[i].none);
}

/* Of two that may be unknown (below 0), those that are known. */
static int64_t add_known(int64_t a, int64_t b)
{
	if (a < 0)
		return b;
	return b < 0 ? a : a + b;
}

static int64_t sum_of_member(enum in_sum in_sum, int64_t sum, int64_t one)
{
	switch (in_sum) {
	case OF_THE_FIRST:
		return sum;
	case FIRST_NOT_0:
		return sum ? sum : one;
	case GREATEST:
		return one > sum ? one : sum;
	case TOTAL:
	case DIVISIBLE:
		return add_known(sum, one);
	}
	return sum;
}

void exec_result_add(struct exec_result *sum, const struct exec_result *one)
{
	for (size_t i = 0; i < ELEMENTS(exec_members); i++) {
		const struct exec_member *m = &exec_members[i];

		exec_member_set(sum, m,
			sum_of_member(m->in_sum, exec_member_get(sum, m), exec_member_get(one, m)));
	}
}

void exec_result_divide(struct exec_result *sum, int n)
{
	for (size_t i = 0; i < ELEMENTS(exec_members); i++) {
		const struct exec_member *m = &exec_members[i];
		int64_t total = exec_member_get(sum, m);

		if (m->in_sum == DIVISIBLE && total >= 0)
			exec_member_set(sum, m, total / n);
	}
}

void exec_result_add_usage(struct exec_result *result, const struct rusage *usage)
{
	int64_t user = usage->ru_utime.tv_sec * NS_PER_S + usage->ru_utime.tv_usec * NS_PER_US;
	int64_t system = usage->ru_stime.tv_sec * NS_PER_S + usage->ru_stime.tv_usec * NS_PER_US;

	result->user_ns = add_known(result->user_ns, user);
	result->system_ns = add_known(result->system_ns, system);
	result->pt_ns = add_known(result->pt_ns, user + system);
	if (usage->ru_maxrss * 1024 > result->max_rss_bytes)
		result->max_rss_bytes = usage->ru_maxrss * 1024;
	result->voluntary_switches = add_known(result->voluntary_switches, usage->ru_nvcsw);
	result->involuntary_switches = add_known(result->involuntary_switches, usage->ru_nivcsw);
}
