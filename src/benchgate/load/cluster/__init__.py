"""Runs the groups of workers of a launch on a Dask cluster."""

from benchgate.load.cluster.coordinator import run_on_cluster

__all__ = ["run_on_cluster"]
