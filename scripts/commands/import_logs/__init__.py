"""Make a study of plain sysbench logs."""
