"""The most important units of small torch networks, next to other ways to find them."""
