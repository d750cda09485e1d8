// SPDX-License-Identifier: GPL-2.0-or-later
// Three frequencies for each of four CPUs, for acpi-cpufreq in a virtual machine (in_vm.sh, setup_real.sh): the register is a scratch
// register of a serial port that nothing else uses.
DefinitionBlock ("", "SSDT", 2, "EMP", "CPUPSS", 1)
{
	External (\_SB.CPUS.C000, DeviceObj)
	Scope (\_SB.CPUS.C000) {
		Name (_PPC, 0)
		Name (_PCT, Package () { ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) }, ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) } })
		Name (_PSS, Package () { Package () { 3700, 90000, 10, 10, 0, 0 }, Package () { 2800, 60000, 10, 10, 1, 1 }, Package () { 2200, 40000, 10, 10, 2, 2 } })
		Name (_PSD, Package () { Package () { 5, 0, 0, 0xFD, 1 } })
	}
	External (\_SB.CPUS.C001, DeviceObj)
	Scope (\_SB.CPUS.C001) {
		Name (_PPC, 0)
		Name (_PCT, Package () { ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) }, ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) } })
		Name (_PSS, Package () { Package () { 3700, 90000, 10, 10, 0, 0 }, Package () { 2800, 60000, 10, 10, 1, 1 }, Package () { 2200, 40000, 10, 10, 2, 2 } })
		Name (_PSD, Package () { Package () { 5, 0, 1, 0xFD, 1 } })
	}
	External (\_SB.CPUS.C002, DeviceObj)
	Scope (\_SB.CPUS.C002) {
		Name (_PPC, 0)
		Name (_PCT, Package () { ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) }, ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) } })
		Name (_PSS, Package () { Package () { 3700, 90000, 10, 10, 0, 0 }, Package () { 2800, 60000, 10, 10, 1, 1 }, Package () { 2200, 40000, 10, 10, 2, 2 } })
		Name (_PSD, Package () { Package () { 5, 0, 2, 0xFD, 1 } })
	}
	External (\_SB.CPUS.C003, DeviceObj)
	Scope (\_SB.CPUS.C003) {
		Name (_PPC, 0)
		Name (_PCT, Package () { ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) }, ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) } })
		Name (_PSS, Package () { Package () { 3700, 90000, 10, 10, 0, 0 }, Package () { 2800, 60000, 10, 10, 1, 1 }, Package () { 2200, 40000, 10, 10, 2, 2 } })
		Name (_PSD, Package () { Package () { 5, 0, 3, 0xFD, 1 } })
	}
}
