"""Networks: fitted Markov networks, networks read from files, and queries to both."""
