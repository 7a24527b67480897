"""Calls on frames of many machines: what becomes of their plans in a bucket of users, before it and behind all of them."""
