"""Tests of the deployment: the template, the asset, and what ties both to the functions."""
