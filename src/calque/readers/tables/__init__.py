"""Tables from HTML, Markdown, JSON and XML."""
