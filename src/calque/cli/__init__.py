"""The command line: one small file for each verb. Results go to stdout, everything else to stderr."""
