"""What other libraries mean by a metric's name, and why two of them differ."""
