import glob
import os

import pytest

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fixtures")


def traces():
    """Returns fixtures of every format that contain events."""
    names = [f for kind in ("json", "xplane", "perfetto") for f in glob.glob(f"{FIXTURES}/{kind}/**/*", recursive=True)]
    return sorted(f for f in names if os.path.isfile(f) and 0 < os.path.getsize(f) < 400_000 and "bad_" not in f)


@pytest.fixture
def fixture():
    return lambda name: os.path.join(FIXTURES, name)
