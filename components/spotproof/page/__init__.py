"""One template for every self-contained HTML report."""
