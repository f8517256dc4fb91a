"""From records to tables: statistics, intervals, verdicts; knows no servers."""
