"""The Kubernetes API as one user sees it: a thin client, a watch, and waiting."""
