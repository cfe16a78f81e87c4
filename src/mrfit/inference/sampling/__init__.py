"""Inference by Markov chains: Gibbs sampling, annealing, tempering."""
