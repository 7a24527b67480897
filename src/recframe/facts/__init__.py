"""What train, items, users and a reference say of an item, a user, a pair or a segment."""
