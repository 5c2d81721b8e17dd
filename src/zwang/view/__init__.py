"""Seeing a run: pictures, plots, video, a report in one file, and a page in three dimensions."""
