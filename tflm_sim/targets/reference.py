"""Which TFLM the tables know: up to which commit, and of which pip wheels behind it. Nothing else names either.

``python tools upstream move --write`` writes the values when upstream has moved. ``Source: FILE @ COMMIT`` elsewhere
says where a fact was read, and stays; the same command lists the files that were changed since.
"""

from __future__ import annotations

REFERENCE_SNAPSHOT = "90b983c2b"
"""The newest commit of upstream of which there is a checkout, and the TFLM that is taken where none is named."""
REFERENCE_DAY = "2026-08-20"
"""The day on which it was committed, UTC."""
LAST_COUNTED = 1928
"""Its position in upstream's history, see :mod:`tflm_sim.targets.changes`."""

WHEELS = """
13cd6c1@20260824231141 ebf99da@20260825225714 f59d987@20260828023337 bfeb43a@20260901203916 e4e81fb@20260910174337
d031820@20260911203421 50b7207@20260914210123 d0dabe5@20260916054326 1106c5b@20260916212208 4cd8ec8@20260918022727
0ee39f5@20260919001438 9f638f1@20260921210956 aade8e6@20260923010606 b57ba0d@20260923231500 714bdb7@20260925131152
aab6e2f@20260925222358 23953f1@20260928214037 cd32a51@20260930024714 06f0b46@20260930204519 1fae604@20261002031052
3f787dc@20261002230103 ff8cff7@20261006214927 5328e0d@20261008201341 230c9d9@20261009205824 1881137@20261012203412
7b49bf8@20261013214400 d4fd5bf@20261014211602 ec2f97d@20261015210718 5736ea1@20261016174617 64b3de8@20261017155528
0c7ce51@20261020131141 36c9a0f@20261021054047 dbf45f1@20261021231506 f7ed40d@20261023044614 8f6596d@20261023182759
"""
"""The commit of each pip wheel behind it, and the wheel's version: when it was committed, UTC; the oldest first.

Where the table of counted commits grows, what it holds goes from here, and so do positions of changes that count days.
Source: METADATA of tflite-micro 0.devVERSION on PyPI, which names the commit. 90b983c2b is that of 20260820164721.
"""
WHEEL_SNAPSHOT = WHEELS.split()[-1].partition("@")[0] if WHEELS.strip() else REFERENCE_SNAPSHOT
"""The commit of the newest wheel, for which the preset "x86_64-pip" stands."""
