"""The `.rec` namespace: options, methods, results in the frame's own kind."""
