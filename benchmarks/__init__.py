"""Problems x methods: everything that is measured, and the tables in the docs. `python -m benchmarks` is the door."""
