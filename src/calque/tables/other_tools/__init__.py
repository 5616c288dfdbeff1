"""The numbers of other tools, computed as they compute them."""
