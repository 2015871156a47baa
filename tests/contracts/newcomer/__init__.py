"""A kind of job that a newcomer brings: the file that is to be enough, and an operator of it to try it with."""
