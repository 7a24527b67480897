"""Calls on distributed engines: plans per bucket of users and overall."""
