"""Fields by columns: whole batches of plain documents compared field by field, to the same ledger as one by one."""
