/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What settings should hold: see setting_want.h. */
#include "setup/audit/setting_want.h"

/* "inherit" takes the value of thp. */
char *want_mthp(const struct facts *f, const struct setting_file *file)
{
	return xstrdup(file->value && !strcmp(file->value, "inherit") ? "inherit" : "never");
}

/* The least value, or what the file holds if that is higher. */
static char *check_no_less(const struct setting_file *file, int64_t least)
{
	int64_t value;

	if (file->value &&
		text_parse_int(file->value, "the file", least, INT64_MAX, &value, NULL) == 0)
		return xstrdup(file->value);
	return text_format("%" PRId64, least);
}

/* 0 switches the search for hung tasks off, and stays. */
char *want_hung(const struct facts *f, const struct setting_file *file)
{
	return file->value && !strcmp(file->value, "0") ? xstrdup("0") : check_no_less(file, 600);
}

char *want_vmstat(const struct facts *f, const struct setting_file *file)
{
	return check_no_less(file, 10);
}

/* 2 stops it too, and separates the pages that were merged. */
char *want_ksm(const struct facts *f, const struct setting_file *file)
{
	return xstrdup(file->value && !strcmp(file->value, "2") ? "2" : "0");
}

/* The first of the profiles below that this machine has. */
char *want_power_profile(const struct facts *f, const struct setting_file *file)
{
	static const char *const best[] = {"performance", "balanced-performance", "balanced"};
	_cleanup_(freep) char *choices = path_text(f->root_fd, "%s_choices", file->path);

	for (size_t i = 0; choices && i < ELEMENTS(best); i++)
		if (text_has_word(choices, best[i]))
			return xstrdup(best[i]);
	return xstrdup(best[0]);
}

/* Of one interrupt, a list of CPUs; else the mask for new ones. */
static char *without_core(const struct facts *f, const struct setting_file *file, bool is_list)
{
	if (is_list)
		return cpu_list_without(file->value, f->threads, f->n_threads);
	return cpu_mask(file->value, f->threads, f->n_threads, true);
}

/* All CPUs but those of the core, in the same form. */
static char *all_without_core(const struct facts *f, const struct setting_file *file, bool is_list)
{
	_cleanup_(freep) char *others = NULL;
	_cleanup_(freep) int *cpus = NULL;
	size_t n = 0;

	if (f->online)
		others = cpu_list_without(f->online, f->threads, f->n_threads);
	if (is_list || !others)
		return TAKE(others);
	if (text_parse_cpu_list(others, &cpus, &n) < 0 || n == 0)
		return NULL;
	return cpu_mask(file->value, cpus, n, false);
}

char *want_interrupts(const struct facts *f, const struct setting_file *file)
{
	const bool is_list = strstr(file->path, "_list");
	_cleanup_(freep) char *less = NULL;

	if (f->cpu < 0 || !file->value)
		return NULL;
	less = without_core(f, file, is_list);
	if (!less || less[is_list ? 0 : strspn(less, "0,")])
		return TAKE(less);
	/* Nothing would remain, and the kernel refuses an empty mask. */
	return all_without_core(f, file, is_list);
}

char *want_frequency_limits(const struct facts *f, const struct setting_file *file)
{
	const char *number = strstr(file->path, "/policy");

	for (size_t i = 0; number && i < f->frequency.n_policies; i++) {
		const struct frequency_policy *p = &f->frequency.policies[i];

		if (p->number == atoi(number + strlen("/policy")) && p->base_khz > 0)
			return text_format("%" PRId64 " %" PRId64, p->base_khz, p->base_khz);
	}
	return NULL;
}

static const char UNCORE_MIN[] = "min_freq_khz";

char *want_uncore(const struct facts *f, const struct setting_file *file)
{
	return path_text(f->root_fd, "%.*smax_freq_khz",
		(int)(strlen(file->path) - strlen(UNCORE_MIN)), file->path);
}
