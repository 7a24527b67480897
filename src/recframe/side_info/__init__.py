"""Facts from side frames about items, users, pairs and segments."""
