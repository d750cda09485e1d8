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
		"Package: linux-image-generic\nDepends: linux-image-6.8.0-48-generic, linux-firmware\n");

	assert_string_equal(debian, "6.1.0-56-amd64");
	assert_string_equal(ubuntu, "6.8.0-48-generic");
	assert_null(kernel_parse_apt("Package: x\nDepends: libc6\nSuggests: linux-image-6.1.0-1-amd64\n"));
	assert_null(kernel_parse_apt(""));
}

TEST(dnf_names_the_package_with_its_epoch)
{
	_cleanup_(freep) char *release = kernel_parse_dnf("kernel-core-0:5.14.0-503.11.1.el9_5.x86_64\n");

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
	tree_put("lib/modules/6.1.0-11-amd64/modules.dep", ""); /* left behind by a removed package */
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

TEST_IN_TREE(options_of_the_configuration_are_found_by_their_whole_name)
{
	_cleanup_(freep) char *config = NULL, *hz = NULL, *preempt = NULL;

	assert_int_equal(kernel_config_read(&config, tree.fd, "6.1.0"), -ENOENT);
	tree_put("boot/config-6.1.0", "# CONFIG_PREEMPT is not set\nCONFIG_HZ_250=y\nCONFIG_HZ=250\n");
	assert_int_equal(kernel_config_read(&config, tree.fd, "6.1.0"), 0);
	hz = kernel_config_get(config, "CONFIG_HZ");
	assert_string_equal(hz, "250");
	preempt = kernel_config_get(config, "CONFIG_PREEMPT");
	assert_string_equal(preempt, "n");
}
