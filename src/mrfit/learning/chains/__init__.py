"""Internal: maximum likelihood by chains that go on while parameters change, where no exact engine fits."""
