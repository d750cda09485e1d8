#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Each installed file is in one Debian package and in one RPM package, and what their lists name is installed.

Usage: packaged.py BUILD SOURCE
"""
import fnmatch
import json
import re
import sys
from pathlib import Path

build, source = map(Path, sys.argv[1:])
options = {option["name"]: option["value"] for option in json.loads((build / "meson-info/intro-buildoptions.json").read_text())}
prefix, libdir = Path(options["prefix"]), options["libdir"]
installed = {Path(path).relative_to(prefix) for path in json.loads((build / "meson-info/intro-installed.json").read_text()).values()}
faults = []


def as_packaged(path, libraries):
    """The installed path as the package has it, below /usr."""
    path = str(path)
    return f"usr/{libraries}{path[len(libdir):]}" if path.startswith(f"{libdir}/") and "systemd" not in path and "tmpfiles" not in path else f"usr/{path}"


def is_named(path, pattern):
    """As a list names it: by itself, or by a folder that it is in."""
    parts, wanted = path.split("/"), pattern.strip("/").split("/")
    return len(parts) >= len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))


def check(kind, lists, libraries):
    paths = sorted(as_packaged(path, libraries) for path in installed)
    for path in paths:
        packages = [name for name, patterns in lists.items() if any(is_named(path, pattern) for pattern in patterns)]
        if len(packages) != 1:
            faults.append(f"{path} is in {len(packages)} {kind} packages: {' '.join(packages) or 'none lists it'}")
    for name, patterns in lists.items():
        for pattern in patterns:
            if not any(is_named(path, pattern) for path in paths):
                faults.append(f"{name} lists {pattern}, which is not installed")


debian = {}
for path in sorted((source / "packaging/debian").glob("*.install")):
    debian[path.stem] = [line.split()[0] for line in path.read_text().splitlines() if line]
check("Debian", debian, "lib/x86_64-linux-gnu")

macros = {"_bindir": "/usr/bin", "_libdir": "/usr/lib64", "_libexecdir": "/usr/libexec", "_datadir": "/usr/share", "_mandir": "/usr/share/man",
          "_includedir": "/usr/include", "_unitdir": "/usr/lib/systemd/system", "_tmpfilesdir": "/usr/lib/tmpfiles.d"}
rpm, package = {}, None
for line in (source / "packaging/emp.spec").read_text().splitlines():
    if line.startswith("%"):
        section = re.fullmatch(r"%(\w+) ?(.*)", line)
        if section and section[1] in ("files", "prep", "build", "install", "check", "post", "preun", "description", "package"):
            package = (section[2] or "emp") if section[1] == "files" else None
            continue
        expanded = re.sub(r"%\{(\w+)\}", lambda found: macros.get(found[1], found[0]), line)
        if package and expanded.startswith("/"):
            rpm.setdefault(package, []).append(expanded)
check("RPM", rpm, "lib64")

if len(debian) != 4 or len(rpm) != 4:
    faults.append(f"4 packages of each kind have programs or libraries, not {len(debian)} and {len(rpm)}")
control = (source / "packaging/debian/control").read_text()
for name in debian:
    if f"\nPackage: {name}\n" not in control:
        faults.append(f"{name} is not in packaging/debian/control")
print("\n".join(faults))
sys.exit(len(faults) > 0)
