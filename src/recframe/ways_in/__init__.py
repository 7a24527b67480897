"""Ways in from what models and tools give: score matrices, nested lists and TREC files become frames in long form."""
