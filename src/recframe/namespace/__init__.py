"""The `.rec` of a frame: options bound, questions asked, answers given in the frame's own kind."""
