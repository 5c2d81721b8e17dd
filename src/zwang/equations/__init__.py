"""The equations of a system with numbers put in, and which of its rows act."""
