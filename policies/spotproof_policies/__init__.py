"""The rules that refuse settings which cannot work."""
