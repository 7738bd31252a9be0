"""From inner products to kernel values: vectorised maps, and the table of Matérn profiles."""
