"""The process of one cell: started from a fork server, limited, watched, and what it does."""
