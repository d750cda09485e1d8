# SPDX-License-Identifier: GPL-2.0-or-later
# EMP's commands in fish. What can follow, emp says: see emp/complete.h.

function __emp_complete
    set -l at (commandline -ct)
    set -l typed (commandline -opc) "$at"
    set -l emp emp
    if string match -q '*/*' -- $typed[1]
        set emp (string replace -r '[^/]*$' emp -- $typed[1])
    end
    command -q $emp
    or return
    set -l said ($emp complete $typed 2>/dev/null)
    switch "$said[1]"
        case files
            __fish_complete_path "$at"
        case directories
            __fish_complete_directories "$at"
        case commands
            complete -C "$at"
    end
    if set -q said[2]
        printf '%s\n' $said[2..-1]
    end
end

for name in emp emp-measure emp-setup emp-calibrate emp-analyze emp-load emp-study emp-compare-commits
    complete -c $name -k -f -a '(__emp_complete)'
end
