"""Gofer on AWS: clients, settings, stages, published bundles and schedules."""
