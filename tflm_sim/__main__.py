"""``python -m tflm_sim``: the command line."""

import sys

from tflm_sim.cli import main

sys.exit(main())
