"""Charts: how numbers of models are drawn, in one look."""
