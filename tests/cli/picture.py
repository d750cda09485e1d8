#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# What a reader needs of a picture: it is as wide as a column, its texts are of 6 points or more, inside the picture, and no two
# are on each other. Usage: picture.py FILE.svg...
import re
import sys

TEXT = re.compile(
    r'<g transform="translate\(([-\d.]+),([-\d.]+)\)( rotate\([-\d.]+\))?"[^>]*font-size="([\d.]+)"[^>]*text-anchor="(\w+)"[^>]*>\s*<text>(.*?)</text>'
)
COLUMN = 85 / 25.4 * 96  # CSS pixels


def boxes(picture):
    for x, y, turned, size, anchor, text in TEXT.findall(picture):
        text = re.sub(r"&#?\w+;", "x", re.sub(r"<[^>]*>", "", text)).replace("\xa0", " ").strip()
        size = float(size)
        assert size >= 7.9, ("too small", size, text)
        if not text or (turned and "-90" not in turned.replace("270", "-90")):  # slanted ticks are apart by their slant
            continue
        width, height = size * sum(0.65 if c.isupper() else 0.5 for c in text), 0.6 * size
        left = {"start": 0, "middle": -width / 2, "end": -width}[anchor]
        x, y = float(x), float(y)
        if turned:
            yield text, (x - height, y - left - width, x, y - left)
        else:
            yield text, (x + left, y - height, x + left + width, y)


for name in sys.argv[1:]:
    picture = open(name, encoding="utf-8").read()
    width, height = (int(x) for x in re.search(r'viewBox="0 0 (\d+) (\d+)"', picture).groups())
    assert abs(width - COLUMN) < 1 and height < 260 / 25.4 * 96, (name, width, height)
    # what is drawn again in the same place is one text
    texts = sorted(set(boxes(picture)))
    assert texts, name
    for i, (text, (left, top, right, bottom)) in enumerate(texts):
        assert left >= 0 and top >= 0 and right <= width and bottom <= height, (name, "outside", text, left, right, width)
        for other, (x1, y1, x2, y2) in texts[i + 1 :]:
            assert right <= x1 or x2 <= left or bottom <= y1 or y2 <= top, (name, "on each other", text, other)
