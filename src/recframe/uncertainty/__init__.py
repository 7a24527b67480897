"""How sure a number is: tests, corrections, resampling, pooling and gaps, as pure functions on arrays."""
