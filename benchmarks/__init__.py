"""What `make bench` measures, and where it writes the figures."""
