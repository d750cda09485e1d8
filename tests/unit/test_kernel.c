/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels that run, are installed, are offered. */
#include "tests/unit/check.h"
#include "tests/unit/tree.h"

#include "lib/host/system/kernel.h"

TEST(releases_compare_by_their_numbers)
{
	static const struct {
		const char *a, *b;
		int sign;
	} rows[] = {
		{"6.1.0-9-amd64", "6.1.0-10-amd64", -1},
		{"6.1.0-10-amd64", "6.1.0-10-rt-amd64", 0},
		{"6.12.95+deb12-amd64", "6.1.0-56-amd64", 1},
		{"5.14.0-70.13.1.el9_0.x86_64", "5.14.0-503.11.1.el9_5.x86_64", -1},
		{"2.6.32-131.0.15.el6.x86_64", "2.6.32-358", -1},
		{"6.18.44-custom", "6.1", 1},
		{"6.8.0-45-generic", "6.8.0-45-generic", 0},
		{"6.12.0", "6.12.0.old", 0},
		{"6.6.8-arch1-1", "6.6.8-arch2-1", -1},
		{"6.6.8-arch1-1", "6.6.8-arch1-1", 0},
		{"6.6.8-200.fc39.x86_64", "6.6.8-200.fc40.x86_64", -1},
		{"5.14.0-70.x86_64", "5.14.0-70.x86_64+debug", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int r = kernel_compare(rows[i].a, rows[i].b);

		assert_int_equal((r > 0) - (r < 0), rows[i].sign);
	}
}

TEST(the_flavour_names_the_package_to_ask_for)
{
	static const char *const rows[][2] = {
		{"6.1.0-56-amd64", "linux-image-amd64"},
		{"6.1.0-56-cloud-amd64", "linux-image-cloud-amd64"},
		{"6.12.95+deb12-amd64", "linux-image-amd64"},
		{"6.1.0-0.deb11.5-rt-amd64", "linux-image-rt-amd64"},
		{"6.8.0-45-generic", "linux-image-generic"},
		{"6.8.0-1015-aws", "linux-image-aws"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		_cleanup_(freep) char *package = kernel_package(rows[i][0]);

		assert_string_equal(package, rows[i][1]);
	}
	assert_null(kernel_package("6.1.0"));
}

TEST(what_is_offered_stands_in_the_packages_dependencies)
{
	_cleanup_(freep) char *debian = kernel_parse_apt(
		"Package: linux-image-amd64\nVersion: 6.1.192-2\n"
		"Depends: linux-image-6.1.0-56-amd64 (= 6.1.192-2)\nSection: kernel\n");
	_cleanup_(freep) char *ubuntu = kernel_parse_apt(
		"Package: linux-image-generic\n"
		"Depends: linux-image-6.8.0-48-generic, linux-firmware\n");

	assert_string_equal(debian, "6.1.0-56-amd64");
	assert_string_equal(ubuntu, "6.8.0-48-generic");
	assert_null(kernel_parse_apt(
		"Package: x\nDepends: libc6\nSuggests: linux-image-6.1.0-1-amd64\n"));
	assert_null(kernel_parse_apt(""));
}

#define META(name, release)                                                         \
	"Package: linux-image-" name "\nStatus: install ok installed\nVersion: 1\n" \
	"Depends: linux-image-" release ", linux-modules-extra-" release "\n\n"

static void assert_packages(const char *status, const char *running, const char *words)
{
	_cleanup_(argv_freep) char **packages = kernel_packages(status, running);
	_cleanup_(freep) char *text = argv_join(packages);

	assert_string_equal(text, words);
}

/* A kernel of Ubuntu's hardware enablement has the flavour of the others, and a package of its
 * own. */
TEST(what_brings_new_kernels_are_the_installed_packages_of_the_flavour)
{
	static const char status[] =
		"Package: linux-image-5.15.0-119-generic\nStatus: install ok installed\n"
		"Depends: kmod\n\n" META("generic", "5.15.0-119-generic") META(
			"generic-hwe-22.04", "6.8.0-45-generic") META("cloud-amd64",
			"6.1.0-9-cloud-amd64") META("virtual-hwe-22.04",
			"6.8.0-45-generic") "Package: linux-image-generic-hwe-22.04-edge\n"
					    "Status: deinstall ok config-files\n"
					    "Depends: linux-image-6.11.0-1-generic\n\n" META(
						    "amd64", "6.1.0-9-amd64");

	assert_packages(status, "6.8.0-45-generic",
		"linux-image-generic linux-image-generic-hwe-22.04 linux-image-virtual-hwe-22.04");
	assert_packages(status, "6.1.0-8-cloud-amd64", "linux-image-cloud-amd64");
	assert_packages(status, "6.1.0-8-amd64", "linux-image-amd64");
	assert_packages(NULL, "6.8.0-45-generic", "linux-image-generic");
	assert_packages(status, "6.1.0", "");
}

TEST(the_newest_of_several_packages_counts)
{
	_cleanup_(freep) char *newest = kernel_parse_apt(META("generic", "5.15.0-119-generic")
			META("generic-hwe-22.04", "6.8.0-48-generic"));

	assert_string_equal(newest, "6.8.0-48-generic");
}

TEST(pacman_and_zypper_name_a_version_that_becomes_a_release)
{
	_cleanup_(freep) char *arch = kernel_parse_version(
		"Repository      : core\nName            : linux\nVersion         : 6.6.8.arch1-1\n"
		"Description     : The Linux kernel\n",
		false);
	_cleanup_(freep) char *lts = kernel_parse_version("Version         : 6.6.8-1\n", false);
	_cleanup_(freep) char *suse = kernel_parse_version(
		"Name           : kernel-default\nVersion        : 6.4.0-150600.23.25.1\n"
		"Arch : x86_64\n",
		true);

	assert_string_equal(arch, "6.6.8-arch1-1");
	assert_string_equal(lts, "6.6.8-1");
	assert_string_equal(suse, "6.4.0-150600.23.25");
	assert_null(kernel_parse_version("error: package 'linux' was not found\n", false));
}

TEST(dnf_names_the_package_with_its_epoch)
{
	_cleanup_(freep) char *release = kernel_parse_dnf(
		"kernel-core-0:5.14.0-503.11.1.el9_5.x86_64\n");

	assert_string_equal(release, "5.14.0-503.11.1.el9_5.x86_64");
	assert_null(kernel_parse_dnf(""));
}

TEST_IN_TREE(the_newest_image_counts_and_rescue_images_do_not)
{
	struct kernel kernel = {};
	struct error err = {};

	assert_int_equal(kernel_read(&kernel, tree.fd, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/proc/sys/kernel/osrelease"));
	tree_put("proc/sys/kernel/osrelease", "6.1.0-9-amd64\n");
	tree_put("boot/vmlinuz-0-rescue-12345", "");
	tree_put("boot/vmlinuz-6.1.0-9-amd64", "");
	tree_put("boot/vmlinuz-6.1.0-10-amd64", "");
	/* left behind by a removed package */
	tree_put("lib/modules/6.1.0-11-amd64/modules.dep", "");
	tree_put("run/reboot-required", "");
	assert_int_equal(kernel_read(&kernel, tree.fd, &err), 0);
	assert_string_equal(kernel.installed, "6.1.0-10-amd64");
	assert_true(kernel.reboot_required);
	kernel_clear(&kernel);
	tree_put("lib/modules/6.1.0-11-amd64/modules.order", "");
	assert_int_equal(kernel_read(&kernel, tree.fd, &err), 0);
	assert_string_equal(kernel.installed, "6.1.0-11-amd64");
	kernel_clear(&kernel);
}

static void assert_option(const char *command_line, const char *option, const char *value)
{
	_cleanup_(freep) char *found = kernel_boot_option(command_line, option);

	if (value)
		assert_string_equal(found, value);
	else
		assert_null(found);
}

TEST(a_boot_option_is_found_by_its_whole_name_and_the_last_counts)
{
	static const char line[] = "ro rcu_nocbs=1-3 xrcu=5 quiet rcu_nocbs=2 slub_debug";

	assert_option(line, "rcu_nocbs", "2");
	assert_option(line, "rcu", NULL);
	assert_option(line, "quiet", "");
	assert_option(line, "slub_debug", "");
	assert_option("", "quiet", NULL);
	assert_option(NULL, "quiet", NULL);
}

TEST_IN_TREE(options_of_the_configuration_are_found_by_their_whole_name)
{
	_cleanup_(freep) char *config = NULL, *hz = NULL, *preempt = NULL;

	assert_int_equal(kernel_config_read(&config, tree.fd, "6.1.0"), -ENOENT);
	tree_put("boot/config-6.1.0",
		"# CONFIG_PREEMPT is not set\nCONFIG_HZ_250=y\nCONFIG_HZ=250\n");
	assert_int_equal(kernel_config_read(&config, tree.fd, "6.1.0"), 0);
	hz = kernel_config_get(config, "CONFIG_HZ");
	assert_string_equal(hz, "250");
	preempt = kernel_config_get(config, "CONFIG_PREEMPT");
	assert_string_equal(preempt, "n");
}
