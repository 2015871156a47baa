"""Settings to Kubernetes objects: pure functions, plain dicts, in a fixed order."""
