/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disturbance counters: read from made-up machines, into the book and documents, and in words. */
#include "tests/unit/documents.h"
#include "tests/unit/frozen_clock.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tree.h"

#include "lib/run/observer.h"
#include "lib/document/document.h"
#include "lib/protocol/disturbances.h"

#define THROTTLE(cpu, what) \
	"sys/devices/system/cpu/cpu" #cpu "/thermal_throttle/" what "_throttle_count"

static struct counter_reader *open_reader(int root_fd, int cpu)
{
	frozen_ns = NS_PER_S;
	return counters_open(root_fd, cpu);
}

/* A sample in which 100 ms pass. */
static struct counters end_long(struct counter_reader *reader)
{
	frozen_ns += 100 * NS_PER_MS;
	return counters_end(reader);
}

/* Everything has counted `n` so often. */
static void put_machine(int n)
{
	char text[3000];

	snprintf(text, sizeof(text),
		"cpu  10 0 10 1000 0 0 0 %d 0 0\ncpu0 5 0 5 500 0 0 0 %d 0 0\n"
		"cpu1 5 0 5 500 0 0 0 %d 0 0\nctxt 1\n",
		30 * n, 10 * n, 20 * n);
	tree_put("proc/stat", text);
	snprintf(text, sizeof(text),
		"nr_free_pages 7\npswpin %d\npswpout %d\npgfault 99\npgmajfault %d\n", 3 * n, 4 * n,
		5 * n);
	tree_put("proc/vmstat", text);
	snprintf(text, sizeof(text),
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n"
		"full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
		12 * n);
	tree_put("proc/pressure/cpu", text);
	snprintf(text, sizeof(text), "%d\n", n);
	tree_put(THROTTLE(0, "core"), text);
	tree_put(THROTTLE(1, "core"), text);
	snprintf(text, sizeof(text), "%d\n", 10 * n);
	tree_put(THROTTLE(0, "package"), text);
	tree_put(THROTTLE(1, "package"), text);
}

TEST_IN_TREE(a_long_sample_has_its_own_counts)
{
	_cleanup_(counter_reader_freep) struct counter_reader *of_all = NULL, *of_second = NULL;
	int64_t tick_ns = NS_PER_S / sysconf(_SC_CLK_TCK);
	struct counters all, second;

	put_machine(1);
	of_all = open_reader(tree.fd, -1);
	of_second = open_reader(tree.fd, 1);
	counters_begin(of_all);
	counters_begin(of_second);
	put_machine(3);
	all = end_long(of_all);
	second = counters_end(of_second);
	assert_int_equal(all.value[COUNTER_STEAL], 60 * tick_ns);
	assert_int_equal(second.value[COUNTER_STEAL], 40 * tick_ns);
	assert_int_equal(all.value[COUNTER_THROTTLES], 44);
	assert_int_equal(second.value[COUNTER_THROTTLES], 22);
	assert_int_equal(all.value[COUNTER_SWAPPED_IN], 6);
	assert_int_equal(all.value[COUNTER_SWAPPED_OUT], 8);
	assert_int_equal(all.value[COUNTER_MAJOR_FAULTS], 10);
	assert_int_equal(all.value[COUNTER_CPU_PRESSURE], 24000);
	assert_true(counters_know(&all, COUNTER_SUSPENDED));
	assert_int_equal(all.value[COUNTER_SUSPENDED], 0);
	assert_false(counters_know(&all, COUNTER_VOLUNTARY));
}

/* The file of a CPU's registers: number 0x34 counts SMIs, 0xe7 is MPERF, and 0xe8 is APERF, here
 * one byte further and so a 256th of it. */
static void put_registers(uint64_t smis, uint64_t base)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/dev/cpu/1/msr", tree.path);
	tree_parents("dev/cpu/1/msr");
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 0x100), 0);
	assert_int_equal(pwrite(fd, &smis, sizeof(smis), 0x34), sizeof(smis));
	assert_int_equal(pwrite(fd, &base, sizeof(base), 0xe7), sizeof(base));
	close(fd);
}

TEST_IN_TREE(registers_and_the_sensor_of_the_pinned_cpu_are_read)
{
	_cleanup_(counter_reader_freep) struct counter_reader *pinned = NULL, *other = NULL;
	struct counters changed, none;

	put_registers(7, 256000);
	tree_put("sys/class/hwmon/hwmon0/name", "nvme\n");
	tree_put("sys/class/hwmon/hwmon0/temp1_input", "30000\n");
	tree_put("sys/class/hwmon/hwmon1/name", "coretemp\n");
	tree_put("sys/class/hwmon/hwmon1/temp1_input", "45000\n");
	pinned = open_reader(tree.fd, 1);
	other = open_reader(tree.fd, 0);
	counters_begin(pinned);
	counters_begin(other);
	put_registers(9, 512000);
	tree_put("sys/class/hwmon/hwmon1/temp1_input", "41500\n");
	changed = end_long(pinned);
	none = counters_end(other);
	assert_int_equal(changed.value[COUNTER_SMIS], 2);
	assert_int_equal(changed.value[COUNTER_TEMPERATURE], -3500);
	assert_int_equal(changed.value[COUNTER_SPEED], -996093); /* 1000 / 256000 - 1 */
	assert_true(counters_know(&none, COUNTER_TEMPERATURE));
	assert_false(counters_know(&none, COUNTER_SMIS));
	assert_false(counters_know(&none, COUNTER_SPEED));
}

static void assert_described(const struct disturbances *found, size_t i, const char *words)
{
	_cleanup_(freep) char *text = disturbance_description(found, i);

	assert_string_equal(text, words);
}

/* 10 ms each, of 60 ms. */
TEST(it_is_said_whether_pt_contains_interrupts)
{
	_cleanup_(disturbances_clear) struct disturbances found = {};
	struct counters samples[5];

	for (uint32_t i = 0; i < ELEMENTS(samples); i++) {
		samples[i] = COUNTERS_NONE;
		samples[i].sample = i + 1;
		samples[i].value[COUNTER_INTERRUPTS] = (8 + i) * NS_PER_MS;
	}
	found = disturbances_find(samples, ELEMENTS(samples), 60 * NS_PER_MS);
	found.pt_ns = 60e6;
	assert_described(
		&found, 0, "interrupts took 10 ms a sample, in 5 of 5 samples (1, 2, 3, 4, …)");
	found.interrupts = INTERRUPTS_IN_PT;
	assert_described(&found, 0,
		"PT contains interrupts: 10 ms a sample (17 %), in 5 of 5 samples (1, 2, 3, 4, …)");
	found.interrupts = INTERRUPTS_NOT_IN_PT;
	assert_described(&found, 0,
		"PT does not contain interrupts: 10 ms a sample, "
		"in 5 of 5 samples (1, 2, 3, 4, …)");
}

TEST(a_clock_off_its_base_and_heat_are_told_in_their_units)
{
	_cleanup_(disturbances_clear) struct disturbances found = {};
	struct counters samples[2] = {COUNTERS_NONE, COUNTERS_NONE};

	samples[0].sample = 1;
	samples[1].sample = 2;
	samples[0].value[COUNTER_SPEED] = 4000;
	samples[0].value[COUNTER_TEMPERATURE] = -2900;
	samples[1].value[COUNTER_SPEED] = -123000;
	samples[1].value[COUNTER_TEMPERATURE] = 4500;
	found = disturbances_find(samples, 2, NS_PER_S);
	assert_int_equal(found.n, 2);
	assert_described(
		&found, 0, "the temperature changed in 1 of 2 samples (2), by up to 4.5 °C");
	assert_described(&found, 1,
		"the CPU's clock was not at its base frequency in 1 of 2 samples (2), "
		"by up to 12.3 %");
}

TEST_IN_TREE(of_short_samples_the_last_in_100_ms_has_the_counts_of_all)
{
	_cleanup_(counter_reader_freep) struct counter_reader *reader = NULL;
	struct counters first, last;
	int n = 0;

	put_machine(1);
	reader = open_reader(tree.fd, -1);
	counters_begin(reader);
	put_machine(2);
	first = counters_end(reader);
	put_machine(3); /* between two samples */
	do {
		counters_begin(reader);
		put_machine(4);
		frozen_ns += 30 * NS_PER_MS;
		last = counters_end(reader);
		n++;
	} while (!counters_know(&last, COUNTER_MAJOR_FAULTS) && n < 100);
	assert_false(counters_know_any(&first));
	assert_int_equal(n, 4); /* 90 ms are too short, 120 ms are not */
	assert_int_equal(last.value[COUNTER_CPU_PRESSURE], 36000);
	assert_int_equal(last.value[COUNTER_MAJOR_FAULTS], 15);
	assert_true(counters_know(&last, COUNTER_STEAL));
}

TEST_IN_TREE(what_happened_before_a_long_sample_is_not_counted_in_it)
{
	_cleanup_(counter_reader_freep) struct counter_reader *reader = NULL;
	struct counters second;

	put_machine(1);
	reader = open_reader(tree.fd, -1);
	counters_begin(reader);
	end_long(reader);
	put_machine(2);
	frozen_ns += 2 * NS_PER_MS; /* as a command of --prepare may take */
	counters_begin(reader);
	second = end_long(reader);
	assert_true(counters_know(&second, COUNTER_MAJOR_FAULTS));
	assert_int_equal(second.value[COUNTER_MAJOR_FAULTS], 0);
}

TEST_IN_TREE(what_a_machine_does_not_have_is_not_known)
{
	_cleanup_(counter_reader_freep) struct counter_reader *reader = NULL;
	struct counters counters;

	reader = open_reader(tree.fd, 0);
	counters_begin(reader);
	counters = end_long(reader);
	assert_false(counters_know(&counters, COUNTER_STEAL));
	assert_false(counters_know(&counters, COUNTER_THROTTLES));
	assert_false(counters_know(&counters, COUNTER_SWAPPED_IN));
	assert_false(counters_know(&counters, COUNTER_CPU_PRESSURE));
	assert_true(counters_know(&counters, COUNTER_SUSPENDED));
}

TEST_IN_TREE(a_file_that_has_grown_is_read_as_far_as_needed)
{
	_cleanup_(counter_reader_freep) struct counter_reader *reader = NULL;
	struct counters counters;
	char text[3000];

	put_machine(1);
	reader = open_reader(tree.fd, -1);
	counters_begin(reader);
	memset(text, 'x', 2000);
	strcpy(text + 2000, "\npswpin 8\npswpout 9\npgmajfault 10\n");
	tree_put("proc/vmstat", text);
	counters = end_long(reader);
	assert_false(counters_know(&counters, COUNTER_MAJOR_FAULTS));
	counters_begin(reader);
	end_long(reader);
	counters_begin(reader);
	counters = end_long(reader);
	assert_true(counters_know(&counters, COUNTER_MAJOR_FAULTS));
	assert_int_equal(counters.value[COUNTER_MAJOR_FAULTS], 0);
}

TEST(the_words_name_what_moved_and_where)
{
	struct counters samples[3];
	_cleanup_(disturbances_clear) struct disturbances moves = {};

	for (int i = 0; i < 3; i++) {
		samples[i] = COUNTERS_NONE;
		samples[i].sample = 1U << i;
		samples[i].value[COUNTER_STEAL] = i * 20000000;
		samples[i].value[COUNTER_CLOCK_RATE] = i ? 400 : -2500;
		samples[i].value[COUNTER_CPU_PRESSURE] = i * 3000000;
		samples[i].value[COUNTER_MAJOR_FAULTS] = 0;
		samples[i].value[COUNTER_INVOLUNTARY] = 12;
	}
	moves = disturbances_find(samples, 3, 100000000);
	assert_int_equal(moves.n, 3);
	assert_described(
		&moves, 0, "CPU time stolen by the hypervisor in 2 of 3 samples (2, 4), 60.00 ms");
	assert_described(
		&moves, 1, "NTP changed the clock rate in 1 of 3 samples (1), by up to 2.5 ppm");
	assert_described(&moves, 2, "processes waited for a CPU in 1 of 3 samples (4), 6.000 ms");
}

TEST_IN_BOOK(they_come_back_from_the_book_and_go_through_documents)
{
	_cleanup_(json_decrefp) json_t *document = parse(
		"{'format': 'emp-run', 'version': 1, 'program': 'xz', 'task_length_s': 1, "
		"'resolution_ns': 1, 'samples': [{'n': 1, 'start_ns': 5, 'et_ns': 9, "
		"'pt_ns': 9, 'executions': []},"
		"{'n': 2, 'start_ns': 20, 'et_ns': 9, 'pt_ns': 9, 'executions': [], "
		"'disturbance_counters':"
		" {'steal_ns': 10000000, 'clock_rate_ppb': -7, 'voluntary_switches': 1}}]}");
	_cleanup_(json_decrefp) json_t *back = NULL;
	_cleanup_(freep) struct counters *rows = NULL;
	int64_t id;
	size_t n;

	assert_done(s, import_document(s->book, document, &id, &s->err));
	assert_done(s, export_document(s->book, id, &back, &s->err));
	assert_same(document, back);
	assert_done(s, book_rows(s->book, id, &counters_table, &rows, &n, &s->err));
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].sample, 2);
	assert_int_equal(rows[0].value[COUNTER_CLOCK_RATE], -7);
	assert_false(counters_know(&rows[0], COUNTER_THROTTLES));
	json_object_set_new(json_object_get(json_array_get(json_object_get(document, "samples"), 1),
				    "disturbance_counters"),
		"steal_ns", json_string("much"));
	assert_true(import_document(s->book, document, &id, &s->err) < 0);
	assert_says(s, "sample 2: 'steal_ns' must be");
}
