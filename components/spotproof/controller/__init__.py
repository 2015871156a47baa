"""The process in the cluster: observe, let the rule decide, act. It never imports pulumi.

`Reconciler.reconcile(key)` looks at one job as the cache shows it, and does at most one step of what is to be done.
Everything it knows is in the cluster: what it has counted and what it is in the middle of stands in the job's
TrainingRun and, for a move, on the job itself. A process that is killed anywhere is followed by one that goes on.
"""
