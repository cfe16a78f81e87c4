"""Small mistakes put into penalties, objectives and solvers, one at a time: do the tests notice?"""
