#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Comments do not rot when things are renamed: a name in backquotes, in a comment of a .c or .h file, is that of something that the reader can
find: a word of the code of that file, of its header or source, or of a header that these include; a file, an option, a command or a key that the
tree has; or one of EXTERNAL. What has blanks in it (a command line, an expression) is not looked at, and neither are formats such as `%s`.
Usage: comments.py SOURCE"""
import os
import re
import subprocess
import sys

# What the comments name that is no part of the tree.
EXTERNAL = {
    'comm': 'a file in /proc/PID',
    'df': 'a command',
    'kallsyms': 'a file in /proc',
    'monospace': 'AsciiDoc',
    'true': 'a command',
}

# In C: comments, or what may hold what looks like one.
PIECE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
WORD = re.compile(r'[A-Za-z_]\w*')
QUOTED = re.compile(r'`([^`\s]+)`')
INCLUDED = re.compile(r'^#include "([^"]+)"', re.M)


class File:
    """A C file: its comments, each with its place, the words of its code, and what it includes."""

    def __init__(self, path):
        with open(path, encoding='utf-8') as file:
            self.text = file.read()
        self.comments, code, at = [], [], 0
        for piece in PIECE.finditer(self.text):
            if piece.group().startswith('/'):
                self.comments.append((piece.start(), piece.group()))
                code.append(self.text[at:piece.start()])
                at = piece.end()
        code.append(self.text[at:])
        self.words = set(WORD.findall(' '.join(code)))
        self.included = INCLUDED.findall(self.text)

    def quotes(self):
        """Each word in backquotes, with its line."""
        for at, comment in self.comments:
            for quote in QUOTED.finditer(comment):
                yield self.text.count('\n', 0, at + quote.start()) + 1, quote.group(1)


def sources(source):
    """The C files, and the names of all files, without suffixes too, below SOURCE."""
    tracked = subprocess.run(['git', '-C', source, 'ls-files'], capture_output=True, text=True)
    names = tracked.stdout.split('\n')[:-1] if tracked.returncode == 0 else [
        os.path.relpath(os.path.join(folder, name), source) for folder, _, files in os.walk(source) for name in files]
    names = [name for name in names if os.path.exists(os.path.join(source, name))]
    parts = {part for name in names for part in (name, os.path.basename(name), os.path.splitext(os.path.basename(name))[0])}
    return {name: File(os.path.join(source, name)) for name in names if name.endswith(('.c', '.h'))}, parts


def visible(files, name):
    """The words that a reader of this file can find."""
    own = {name, name[:-2] + '.c', name[:-2] + '.h'} & files.keys()
    seen = own | {header for file in own for header in files[file].included if header in files}
    return set().union(*(files[file].words for file in seen))


def main(source):
    files, parts = sources(source)
    faults = n = 0
    for name, file in files.items():
        quotes = list(file.quotes())
        if name.startswith('tests/') or not quotes:
            continue
        n += len(quotes)
        words = visible(files, name)
        for line, quote in quotes:
            if '%' in quote or quote in parts or quote in EXTERNAL:
                continue
            if quote.endswith('…') and any(word.startswith(quote[:-1]) for word in words):
                continue
            missing = [word for word in WORD.findall(quote) if word not in words]
            if missing:
                print(f'{name}:{line}: `{quote}`: there is no {missing[0]} here')
                faults += 1
    print(f'{n} names in backquotes, {faults} of nothing')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
