"""Data -> SVG, one chart a file. Text shrinks with its picture, so a phone gets one of its own."""
