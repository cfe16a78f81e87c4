"""The experiments of the papers mrfit builds on, as units of work with stored results, and their pages."""
