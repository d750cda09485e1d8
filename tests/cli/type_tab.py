#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Types into an interactive shell on a terminal, as a user does: completes LINE with the Tab key, goes on with REST and Enter, and
succeeds when the shell prints EXPECTED. Usage: type_tab.py SHELL FOLDER-OF-COMPLETIONS LINE REST EXPECTED"""
import os
import pty
import re
import select
import sys
import tempfile
import time

shell, folder, line, rest, expected = sys.argv[1:]
home = tempfile.mkdtemp()
SETUP = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], f"source {folder}/emp.bash; PS1='rea''dy '"),
    "zsh": (["zsh", "-f", "-i"], f"fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; unsetopt beep; PS1='rea''dy '"),
    "fish": (["fish", "--no-config", "-i"], f"source {folder}/emp.fish; function fish_prompt; echo -n rea; echo -n 'dy '; end"),
}
command, setup = SETUP[shell]
said = ""
deadline = time.monotonic() + 60 * int(os.environ.get("EMP_TIMEOUT_MULTIPLIER", "1"))

pid, terminal = pty.fork()
if pid == 0:
    os.environ.update(HOME=home, TERM="dumb" if shell == "zsh" else "xterm", COLUMNS="120", XDG_CONFIG_HOME=home, XDG_DATA_HOME=home)
    os.execvp(command[0], command)


def wait_for(pattern, since):
    """Until it is printed; where it ends."""
    global said
    while not (match := re.search(pattern, said[since:])):
        ready, _, _ = select.select([terminal], [], [], max(0, deadline - time.monotonic()))
        try:
            more = os.read(terminal, 65536) if ready else b""
        except OSError:
            more = b""
        if not more:
            print(f"no '{pattern}' after: {said[since:]!r} (all: {said!r})")
            os.kill(pid, 9)
            sys.exit(1)
        said += re.sub(r"\x1b(\[[0-9;?]*[a-zA-Z]|[]P][^\x07\x1b]*(\x07|\x1b\\)?|[=>()][0AB]?)", "", more.decode("utf-8", "replace"))
    return since + match.end()


os.write(terminal, setup.encode() + b"\r")
at = wait_for("ready ", 0)
os.write(terminal, line.encode() + b"\t")
wait_for(re.escape(line) + r"\S", at)
os.write(terminal, rest.encode() + b"\r")
wait_for(expected, at)
os.kill(pid, 9)
os.waitpid(pid, 0)
