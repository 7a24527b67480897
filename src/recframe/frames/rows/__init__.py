"""Generic row operations: joins, positions in lists, packed integers, profiling."""
