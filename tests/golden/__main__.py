"""Record what the commands print now, and the results of every part of a learner; look at the difference before
committing it.
"""

from __future__ import annotations

import json

from golden import results
from golden.record import RECORD, recorded

results.record()
RECORD.write_text(json.dumps(recorded(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
