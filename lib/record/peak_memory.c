/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The peak memory of a program: see peak_memory.h. */
#include "lib/record/peak_memory.h"

#include <math.h>

struct peak_memory peak_memory_of(const struct sample *samples, const bool *out, size_t n)
{
	struct peak_memory m = {};
	double squares = 0; /* of the differences from the mean, by Welford's method */

	for (size_t i = 0; i < n; i++) {
		double bytes = (double)samples[i].max_rss_bytes, difference = bytes - m.mean_bytes;

		if (out[i])
			continue;
		if (bytes < 0)
			return (struct peak_memory){};
		m.at_most |= samples[i].max_rss_at_most;
		m.mean_bytes += difference / (double)++m.n;
		squares += difference * (bytes - m.mean_bytes);
	}
	m.sd_bytes = m.n > 1 ? sqrt(squares / (double)(m.n - 1)) : 0;
	return m;
}

const char *peak_memory_text(const struct peak_memory *m)
{
	bool gigabytes = m->mean_bytes >= 1e9;
	const char *unit = gigabytes ? "GB" : "MB";
	double size = gigabytes ? 1e9 : 1e6;
	int decimals = m->mean_bytes < 10 * size ? 2 : 1;
	const char *sd = m->n > 1 ? text_brief(", σ %.*f %s", decimals, m->sd_bytes / size, unit)
				  : "";

	if (m->n == 0 || m->at_most)
		return "";
	return text_brief("%.*f %s%s", decimals, m->mean_bytes / size, unit, sd);
}

json_t *peak_memory_as_json(const struct peak_memory *m)
{
	if (m->n == 0)
		return json_null();
	return json_pack("{s:f, s:o, s:b}", "mean_bytes", m->mean_bytes, "sd_bytes",
		json_real_or_null(m->n > 1 ? m->sd_bytes : NAN), "at_most", m->at_most);
}
