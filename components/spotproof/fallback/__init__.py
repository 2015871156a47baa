"""The fallback rule: when a job leaves a tier, waits, asks, and comes back. Pure: no clock, no API."""
