"""Record what the commands print now; look at the difference before committing it."""

from __future__ import annotations

import json

from golden.record import RECORD, recorded

RECORD.write_text(json.dumps(recorded(), indent=1, sort_keys=True) + "\n", encoding="utf-8")
