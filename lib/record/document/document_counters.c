/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The member "sentinels" of a sample in an emp-run document: see document_counters.h. */
#include "lib/record/document/document_counters.h"

json_t *document_make_counters(const struct counters *counters)
{
	json_t *json = json_object();
	int r = json ? 0 : -1;

	for (int i = 0; i < N_COUNTERS; i++)
		if (counters_know(counters, i))
			r |= json_object_set_new(json, counter_names[i], json_integer(counters->value[i]));
	if (r == 0)
		return json;
	json_decref(json);
	return NULL;
}

int document_parse_counters(
	const json_t *sample, const struct place *at, struct counters *ret, struct error *err)
{
	struct counters counters = {};
	json_t *member = NULL;
	int r;

	r = member_object_maybe(sample, at, "sentinels", &member, err);
	for (int i = 0; r >= 0 && member && i < N_COUNTERS; i++) {
		const json_t *value = json_object_get(member, counter_names[i]);
		int64_t n = 0;

		if (!value || json_is_null(value))
			continue;
		r = member_int(member, at, counter_names[i], -MEMBER_TIME_MAX, MEMBER_TIME_MAX, &n, err);
		counters_set(&counters, i, n);
	}
	if (r < 0)
		return r;
	*ret = counters;
	return 0;
}
