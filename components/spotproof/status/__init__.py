"""What becomes of the jobs, for people: objects of a cluster in, rows and stories out; `spotproof status` shows them.

Pure. It reads what the controller has written, in whatever version, and nothing that it is given makes it fail.
"""
