"""How tiles of kernel matrices are computed: rows prepared, an engine chosen, tiles filled."""
