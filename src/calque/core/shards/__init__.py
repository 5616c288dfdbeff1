"""Work in pieces: kept as it is done, spread over processes or a cluster, and added up to the same bits."""
