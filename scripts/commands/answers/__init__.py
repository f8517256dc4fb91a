"""What finished studies measured, taken into studies/measured.csv and shown beside published figures."""
