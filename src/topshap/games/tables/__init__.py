"""Tables of rows and named columns, whichever library they come from."""
