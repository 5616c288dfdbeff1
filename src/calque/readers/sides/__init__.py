"""Two sides of an evaluation: opened, brought to one scale and one set of labels, and checked against each other."""
