"""From records to tables, intervals, verdicts and the page."""
