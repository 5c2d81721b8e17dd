"""The command line: thin commands around what a script would call."""
