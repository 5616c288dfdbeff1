"""Where bytes come from: files, folders, compressed files, and JSON and XML trees made of them."""
