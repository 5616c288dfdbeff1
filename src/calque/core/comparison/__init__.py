"""How sure the numbers of a result are, and whether one run is better than another: for every task, from ledgers."""
