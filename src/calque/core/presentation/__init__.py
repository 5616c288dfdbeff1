"""Results laid out: sections for people, and the JSON Schema for other tools."""
