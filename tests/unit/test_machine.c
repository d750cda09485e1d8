/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine is, out of made-up files. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/system/machine.h"

static const char INTEL[] =
	"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 158\n"
	"model name\t: Intel(R) Core(TM) i9-9900K CPU @ 3.60GHz\nstepping\t: 12\n"
	"microcode\t: 0xf4\nflags\t\t: fpu est constant_tsc nonstop_tsc ida\n\n"
	"processor\t: 1\nvendor_id\t: GenuineIntel\n";
#define GUEST "processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu constant_tsc hypervisor\n"

static struct machine machine;

static int drop(void **state)
{
	machine_clear(&machine);
	return tree_remove(state);
}

#define TEST_OF_MACHINE(name) TEST_WITH(name, tree_make, drop)

TEST_OF_MACHINE(an_empty_machine_is_read_without_complaint)
{
	machine_read(&machine, tree.fd);
	assert_null(machine.cpu_name);
	assert_null(machine.os_id);
	assert_int_equal(machine.memory_bytes, 0);
	assert_string_equal(machine.id, "");
	assert_false(text_has_word(machine.flags, "est"));
	assert_string_equal(machine_description(&machine), "a physical machine");
}

TEST_OF_MACHINE(the_processor_is_told_by_cpuinfo)
{
	tree_put("proc/cpuinfo", INTEL);
	machine_read(&machine, tree.fd);
	assert_string_equal(machine.cpu_vendor, "GenuineIntel");
	assert_string_equal(machine.cpu_model, "158");
	assert_string_equal(machine.cpu_name, "Intel(R) Core(TM) i9-9900K CPU @ 3.60GHz");
	assert_string_equal(machine.microcode, "0xf4");
	assert_int_equal(machine.n_cpus, 2);
	assert_true(text_has_word(machine.flags, "ida"));
	assert_false(text_has_word(machine.flags, "tsc")); /* part of a flag is none */
	assert_false(machine.virtual);
}

static void assert_same(const char *text, const char *wanted)
{
	if (wanted) {
		assert_non_null(text);
		assert_string_equal(text, wanted);
	} else
		assert_null(text);
}

TEST(each_architecture_tells_its_processor_in_its_own_words)
{
	static const struct {
		const char *cpuinfo, *vendor, *name, *family, *model, *stepping;
		int64_t n;
	} cases[] = {
		{"processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800.000000MHz\n"
		 "revision\t: 2.2 (pvr 004e 1202)\n\nprocessor\t: 1\n"
		 "cpu\t\t: POWER9, altivec supported\n\n"
		 "timebase\t: 512000000\nplatform\t: PowerNV\nmodel\t\t: 8335-GTH\n"
		 "machine\t\t: PowerNV 8335-GTH\nfirmware\t: OPAL\n",
			NULL, "POWER9, altivec supported", NULL, "8335-GTH", "2.2 (pvr 004e 1202)",
			2},
		{"vendor_id       : IBM/S390\n# processors    : 2\nbogomips per cpu: 3241.00\n"
		 "features\t: esan3 zarch\n"
		 "processor 0: version = FF,  identification = 2733E8,  machine = 8561\n"
		 "processor 1: version = FF,  identification = 2733E8,  machine = 8561\n\n"
		 "cpu number      : 0\n"
		 "version         : FF\nidentification  : 2733E8\nmachine         : 8561\n",
			"IBM/S390", NULL, NULL, "8561", "FF", 2},
		{"processor\t: 0\nhart\t\t: 2\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\n"
		 "uarch\t\t: sifive,u74-mc\n"
		 "mvendorid\t: 0x489\nmarchid\t\t: 0x8000000000000007\nmimpid\t\t: 0x4210427\n",
			"0x489", "sifive,u74-mc", "rv64imafdc", "0x8000000000000007", "0x4210427",
			1},
		{"system type\t\t: generic-loongson-machine\n\nprocessor\t\t: 0\npackage\t\t\t: 0\n"
		 "CPU Family\t\t: Loongson-64bit\nModel Name\t\t: Loongson-3A5000\n"
		 "CPU Revision\t\t: 0x11\n"
		 "CPU MHz\t\t\t: 2500.00\nBogoMIPS\t\t: 5000.00\n"
		 "Features\t\t: cpucfg lam ual fpu\n",
			NULL, "Loongson-3A5000", "Loongson-64bit", "generic-loongson-machine",
			"0x11", 1},
		{"processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd\n"
		 "CPU implementer\t: 0x41\n"
		 "CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd08\nCPU revision\t: 3\n",
			"0x41", NULL, "8", "0xd08", "3", 1},
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		tree_make(NULL);
		tree_put("proc/cpuinfo", cases[i].cpuinfo);
		tree_put("proc/device-tree/model", "A board\n");
		machine_read(&machine, tree.fd);
		assert_same(machine.cpu_vendor, cases[i].vendor);
		assert_same(machine.cpu_name, cases[i].name);
		assert_same(machine.cpu_family, cases[i].family);
		assert_same(machine.cpu_model, cases[i].model);
		assert_same(machine.cpu_stepping, cases[i].stepping);
		assert_int_equal(machine.n_cpus, cases[i].n);
		assert_string_equal(machine.product, "A board");
		drop(NULL);
	}
}

TEST_OF_MACHINE(without_a_flag_firmware_tells_only_where_the_processor_is_no_x86)
{
	tree_put("sys/class/dmi/id/product_name", "QEMU Virtual Machine\n");
	machine_read(&machine, tree.fd);
	assert_true(machine.virtual);
	assert_string_equal(machine.hypervisor, "QEMU");
	machine_clear(&machine);
	tree_put("proc/cpuinfo", INTEL); /* has flags, and hypervisor is not among them */
	machine_read(&machine, tree.fd);
	assert_false(machine.virtual);
}

TEST(what_a_machine_runs_in_is_told_by_its_files)
{
	static const struct {
		const char *files[2][2], *pid_namespace;
		bool virtual, container;
		const char *description;
	} cases[] = {
		{{{"proc/cpuinfo", GUEST},
			 {"sys/devices/system/clocksource/clocksource0/available_clocksource",
				 "tsc kvm-clock\n"}},
			NULL, true, false, "a virtual machine (KVM)"},
		/* a hypervisor without a name is still one */
		{{{"proc/cpuinfo", GUEST}}, NULL, true, false, "a virtual machine"},
		{{{".dockerenv", ""}, {"proc/cpuinfo", GUEST}}, "pid:[4026532200]", true, true,
			"a docker container in a virtual machine"},
		/* an engine's mark in the first namespace proves nothing */
		{{{".dockerenv", ""}}, "pid:[4026531836]", false, false, "a physical machine"},
		/* systemd's word "other" is no name of an engine */
		{{{"run/systemd/container", "other\n"}}, NULL, false, true, "a container"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		tree_make(NULL);
		for (size_t k = 0; k < 2 && cases[i].files[k][0]; k++)
			tree_put(cases[i].files[k][0], cases[i].files[k][1]);
		if (cases[i].pid_namespace)
			tree_link("proc/self/ns/pid", cases[i].pid_namespace);
		machine_read(&machine, tree.fd);
		assert_int_equal(machine.virtual, cases[i].virtual);
		assert_int_equal(machine.container, cases[i].container);
		assert_string_equal(machine_description(&machine), cases[i].description);
		assert_true(cases[i].container || !machine.engine);
		drop(NULL);
	}
}

TEST_OF_MACHINE(the_system_is_told_by_os_release)
{
	tree_put("etc/os-release",
		"PRETTY_NAME=\"Rocky Linux 9.3\"\nID=\"rocky\"\nVERSION_ID='9.3'\n"
		"ID_LIKE=\"rhel centos\"\n");
	tree_put("proc/meminfo", "MemTotal:       24684092 kB\nMemFree: 1 kB\n");
	machine_read(&machine, tree.fd);
	assert_string_equal(machine.os_id, "rocky");
	assert_string_equal(machine.os_version, "9.3");
	assert_string_equal(machine.os_like, "rhel centos");
	assert_int_equal(machine.memory_bytes, INT64_C(24684092) * 1024);
}

TEST_OF_MACHINE(what_is_not_utf8_is_escaped)
{
	tree_put("sys/class/dmi/id/sys_vendor", "Acme \xff\n");
	tree_put("etc/os-release", "PRETTY_NAME=\"Caf\xe9\"\n");
	machine_read(&machine, tree.fd);
	assert_string_equal(machine.vendor, "Acme \\xff");
	assert_string_equal(machine.os_name, "Caf\\xe9");
}
