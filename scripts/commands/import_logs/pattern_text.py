"""The pattern file that an import without one starts from, with every key explained."""

DEFAULT_PATTERN = """\
# How the paths of sysbench logs are read. They are relative to the folder of the logs; the whole path must match, with
# or without a final .gz. {variant} and {workload} stand for names, {clients} and {repetition} for whole numbers, any
# other name, such as {tier}, for a part of your own, * for anything without a slash.
path: "{variant}/{workload}_{clients}_{repetition}.log"
# Instead of `path`, a regular expression of Python with groups of the same names:
# regex: "(?P<variant>[^/]+)/(?P<workload>oltp_.+)-t(?P<clients>[0-9]+)/run(?P<repetition>[0-9]+)/.*"
# Without {clients}, the number of threads in the log is used. Without {repetition}, every cell has one run.
# The variant the others are compared with:
reference: baseline
# Names put together from parts of the path, or a fixed name. Parts that no name holds are added to the workload's, and
# the report gives a mean for each level of such a part:
# variant: "{product} {version}"
# workload: oltp_read_write
# Other names for the levels of a part. They are shown in the order of this list; all others follow by their numbers:
# rename: {tier: {Tier2G: 2 GB, Tier12G: 12 GB}, variant: {mysql-pgo: pgo}}
# order: {tier: [Tier2G, Tier12G]}
# Logs to compare, and logs to leave out, by parts as they are in the path, or by `path` itself; * is anything:
# only: {product: [mysql]}
# leave_out: {path: ["old/*", "*.md"]}
# title: The title of the report
# question: The question that the measurement answers
# The time of a run: mtime (the time of the log's last write, if logs were copied with their times), or first_line (the
# log begins with a date). Without this key it is unknown.
# date: mtime
"""
