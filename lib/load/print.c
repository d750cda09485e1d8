/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a load would do: see print.h. */
#include "lib/load/print.h"

#include "lib/base/terminal.h"

static void print_script(FILE *file, const struct script *script)
{
	fprintf(file, "  %s ×%d, %d repetition%s\n", terminal_text(script->name), script->slaves,
		script->repetitions, script->repetitions == 1 ? "" : "s");
	for (size_t i = 0; i < script->n_steps; i++) {
		static const char *const kinds[] = {"", "think ", "flush ", "flush "};
		const struct step *step = &script->steps[i];

		fprintf(file, "    %s%s\n", kinds[step->kind], terminal_text(step->text));
		if (step->input)
			fprintf(file, "      < %s\n", terminal_text(step->input));
	}
}

void load_print(FILE *file, const struct load *load)
{
	fprintf(file, "%s: %d run%s, %s, %zu slave%s on %s%s\n", terminal_text(load->name), load->runs,
		load->runs == 1 ? "" : "s", coordination_names[load->coordination], load_slaves(load),
		load_slaves(load) == 1 ? "" : "s", load->cpu_list ? "CPUs " : "all CPUs",
		load->cpu_list ? terminal_text(load->cpu_list) : "");
	for (size_t i = 0; i < load->n_scripts; i++)
		print_script(file, &load->scripts[i]);
}
