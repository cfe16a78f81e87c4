"""Internal: does what a model says look like the data?"""
