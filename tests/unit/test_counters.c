/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sentinels: read off made-up machines, the difference, into the book and documents, and in words. */
#include "tests/unit/documents.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tree.h"

#include "lib/host/system/counters_bpf.h"
#include "lib/record/document/document.h"
#include "lib/protocol/disturbances.h"

#define THROTTLE(cpu, what) "sys/devices/system/cpu/cpu" #cpu "/thermal_throttle/" what "_throttle_count"

static struct counters read_once(int root_fd, int cpu)
{
	_cleanup_(counter_reader_freep) struct counter_reader *reader = NULL;
	struct counters counters;
	struct error err;

	assert_int_equal(counters_open(&reader, root_fd, cpu, false, &err), 0);
	counters_read(reader, &counters);
	return counters;
}

static void put_machine(const struct tree *tree)
{
	tree_put(tree, "proc/stat",
		"cpu  10 0 10 1000 0 0 0 30 0 0\ncpu0 5 0 5 500 0 0 0 10 0 0\ncpu1 5 0 5 500 0 0 0 20 0 0\n"
		"ctxt 1\n");
	tree_put(tree, "proc/vmstat", "nr_free_pages 7\npswpin 3\npswpout 4\npgfault 99\npgmajfault 5\n");
	tree_put(tree, "proc/pressure/cpu",
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0.00 avg60=0.00 avg300=0.00 "
		"total=7\n");
	tree_put(tree, THROTTLE(0, "core"), "1\n");
	tree_put(tree, THROTTLE(0, "package"), "10\n");
	tree_put(tree, THROTTLE(1, "core"), "2\n");
	tree_put(tree, THROTTLE(1, "package"), "20\n");
}

static void each_is_read_where_the_kernel_tells_it(void **state)
{
	struct counters all, second;
	int64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
	struct tree tree;

	tree_make(&tree);
	put_machine(&tree);
	all = read_once(tree.fd, -1);
	second = read_once(tree.fd, 1);
	tree_remove(&tree);
	assert_int_equal(all.value[COUNTER_STEAL], 30 * tick_ns);
	assert_int_equal(second.value[COUNTER_STEAL], 20 * tick_ns);
	assert_int_equal(all.value[COUNTER_THROTTLES], 33);
	assert_int_equal(second.value[COUNTER_THROTTLES], 22);
	assert_int_equal(all.value[COUNTER_SWAPPED_IN], 3);
	assert_int_equal(all.value[COUNTER_SWAPPED_OUT], 4);
	assert_int_equal(all.value[COUNTER_MAJOR_FAULTS], 5);
	assert_int_equal(all.value[COUNTER_CPU_PRESSURE], 12000);
	assert_false(counters_know(&all, COUNTER_VOLUNTARY));
}

static void what_a_machine_does_not_have_is_not_known(void **state)
{
	struct counters counters;
	struct tree tree;

	tree_make(&tree);
	counters = read_once(tree.fd, 0);
	tree_remove(&tree);
	assert_false(counters_know(&counters, COUNTER_STEAL));
	assert_false(counters_know(&counters, COUNTER_THROTTLES));
	assert_false(counters_know(&counters, COUNTER_SWAPPED_IN));
	assert_false(counters_know(&counters, COUNTER_CPU_PRESSURE));
	assert_true(counters_know(&counters, COUNTER_SUSPENDED));
}

static void a_file_that_grows_under_the_eyes_is_read_as_far_as_needed(void **state)
{
	_cleanup_(counter_reader_freep) struct counter_reader *reader = NULL;
	struct counters counters;
	struct error err;
	struct tree tree;
	char text[3000];

	tree_make(&tree);
	put_machine(&tree);
	assert_int_equal(counters_open(&reader, tree.fd, -1, false, &err), 0);
	counters_read(reader, &counters);
	memset(text, 'x', 2000);
	strcpy(text + 2000, "\npswpin 8\npswpout 9\npgmajfault 10\n");
	tree_put(&tree, "proc/vmstat", text);
	counters_read(reader, &counters);
	assert_false(counters_know(&counters, COUNTER_MAJOR_FAULTS));
	counters_read(reader, &counters);
	assert_int_equal(counters.value[COUNTER_MAJOR_FAULTS], 10);
	tree_remove(&tree);
}

static void the_difference_is_known_where_both_are(void **state)
{
	struct counters before = {}, after = {}, moved;

	counters_set(&before, COUNTER_STEAL, 100);
	counters_set(&after, COUNTER_STEAL, 140);
	counters_set(&before, COUNTER_CLOCK_RATE, -5000);
	counters_set(&after, COUNTER_CLOCK_RATE, -9000);
	counters_set(&after, COUNTER_THROTTLES, 3);
	counters_set(&before, COUNTER_SUSPENDED, 1000);
	counters_set(&after, COUNTER_SUSPENDED, 1999);
	moved = counters_between(&before, &after);
	assert_int_equal(moved.value[COUNTER_STEAL], 40);
	assert_int_equal(moved.value[COUNTER_CLOCK_RATE], -4000);
	assert_false(counters_know(&moved, COUNTER_THROTTLES));
	assert_true(counters_know(&moved, COUNTER_SUSPENDED));
	assert_int_equal(moved.value[COUNTER_SUSPENDED], 0);
}

static void the_words_name_what_moved_and_where(void **state)
{
	struct sample_counters samples[3] = {{.sample = 1}, {.sample = 2}, {.sample = 4}};
	_cleanup_(disturbances_clear) struct disturbances moves = {};
	_cleanup_(freep) char *steal = NULL, *rate = NULL, *pressure = NULL, *unknown = NULL;
	struct error err;

	for (int i = 0; i < 3; i++) {
		counters_set(&samples[i].moved, COUNTER_STEAL, i * 20000000);
		counters_set(&samples[i].moved, COUNTER_CLOCK_RATE, i ? 400 : -2500);
		counters_set(&samples[i].moved, COUNTER_CPU_PRESSURE, i * 3000000);
		counters_set(&samples[i].moved, COUNTER_MAJOR_FAULTS, 0);
		counters_set(&samples[i].moved, COUNTER_INVOLUNTARY, 12);
	}
	assert_int_equal(disturbances_find(&moves, samples, 3, 100000000, &err), 0);
	assert_int_equal(moves.n, 3);
	steal = disturbance_description(&moves, &moves.items[0]);
	rate = disturbance_description(&moves, &moves.items[1]);
	pressure = disturbance_description(&moves, &moves.items[2]);
	unknown = disturbances_unknown(&moves);
	assert_string_equal(steal, "the hypervisor took away more than 0.1 % of the time in 2 of 3 samples "
				   "(2, 4), 60.00 ms in all");
	assert_string_equal(rate, "NTP changed the clock's rate in 1 of 3 samples (1), by up to 2.5 ppm");
	assert_string_equal(pressure,
		"processes had to wait for a CPU for more than 5 % of the time in 1 of 3 samples (4), 6.000 "
		"ms in all");
	assert_string_equal(unknown, "heat, swapping, sleep, context switches");
}

static void they_come_back_from_the_book_and_go_through_documents(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_decrefp) json_t *document = parse(
		"{'format': 'emp-run', 'version': 1, 'program': 'xz', 'task_length_s': 1, 'resolution_ns': "
		"1, 'samples': [{'n': 1, 'start_ns': 5, 'et_ns': 9, 'pt_ns': 9, 'executions': []},"
		"{'n': 2, 'start_ns': 20, 'et_ns': 9, 'pt_ns': 9, 'executions': [], 'sentinels':"
		" {'steal_ns': 10000000, 'clock_rate_ppb': -7, 'voluntary_switches': 1}}]}");
	_cleanup_(json_decrefp) json_t *back = NULL;
	_cleanup_(freep) struct sample_counters *rows = NULL;
	int64_t id;
	size_t n;

	assert_done(s, document_import_run(s->book, document, &id, &s->err));
	assert_done(s, document_export_run(s->book, id, &back, &s->err));
	assert_same(document, back);
	assert_done(s, book_counters(s->book, id, &rows, &n, &s->err));
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].sample, 2);
	assert_int_equal(rows[0].moved.value[COUNTER_CLOCK_RATE], -7);
	assert_false(counters_know(&rows[0].moved, COUNTER_THROTTLES));
	json_object_set_new(
		json_object_get(json_array_get(json_object_get(document, "samples"), 1), "sentinels"),
		"steal_ns", json_string("much"));
	assert_true(document_import_run(s->book, document, &id, &s->err) < 0);
	assert_says(s, "sample 2: 'steal_ns' must be");
}

static void a_count_from_a_wrong_place_does_not_agree(void **state)
{
	const struct machine_counts before = {.user_ns = 40, .steal_ns = 10, .major_faults = 5},
				    after = {.user_ns = 50, .steal_ns = 10, .major_faults = 6};
	const struct machine_counts right = {.user_ns = 59, .steal_ns = 19, .major_faults = 6};
	struct machine_counts wrong;

	assert_true(machine_counts_agree(&right, &before, &after, 10));
	assert_false(machine_counts_agree(
		&(struct machine_counts){}, &(struct machine_counts){}, &(struct machine_counts){}, 10));
	wrong = right, wrong.user_ns = 60;
	assert_false(machine_counts_agree(&wrong, &before, &after, 10));
	wrong = right, wrong.steal_ns = 9;
	assert_false(machine_counts_agree(&wrong, &before, &after, 10));
	wrong = right, wrong.major_faults = 7;
	assert_false(machine_counts_agree(&wrong, &before, &after, 10));
	wrong = right, wrong.swapped_in = 1;
	assert_false(machine_counts_agree(&wrong, &before, &after, 10));
	wrong = right, wrong.swapped_out = -1;
	assert_false(machine_counts_agree(&wrong, &before, &after, 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_read_where_the_kernel_tells_it),
		cmocka_unit_test(what_a_machine_does_not_have_is_not_known),
		cmocka_unit_test(a_file_that_grows_under_the_eyes_is_read_as_far_as_needed),
		cmocka_unit_test(a_count_from_a_wrong_place_does_not_agree),
		cmocka_unit_test(the_difference_is_known_where_both_are),
		cmocka_unit_test(the_words_name_what_moved_and_where),
		in_book(they_come_back_from_the_book_and_go_through_documents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
