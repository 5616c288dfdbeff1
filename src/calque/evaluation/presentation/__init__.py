"""Tables, JSON Schema, JUnit and report data of a result."""
