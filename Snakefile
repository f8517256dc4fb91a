"""Build database servers, benchmark them, and report what got faster, by how much and with what certainty.

snakemake --cores all results/report.html            the study of config.yaml
snakemake --cores all --configfile studies/quick.yaml  another study; its report is results/studies/quick/report.html
snakemake -n                                          what would be made, and how long it would take
"""

if not workflow.configfiles:
    from scripts.workflow.command_line import default_config

    configfile: default_config(Path(workflow.basedir))


include: "rules/common.smk"
include: "rules/inputs.smk"
include: "rules/reported.smk"


onstart:
    begin()


wildcard_constraints:
    digest="[0-9a-f]{12}",
    server="|".join(map(re.escape, PLAN.study.entries["servers"])),
    clients=r"\d+",
    repetition=r"\d+",
    study=re.escape(PLAN.study.name),


if not PARTIAL:  # a partial report is made from existing runs

    include: "rules/source.smk"
    include: "rules/build.smk"
    include: "rules/check.smk"
    include: "rules/train.smk"
    include: "rules/dataset.smk"
    include: "rules/measure.smk"


include: "rules/tables.smk"
include: "rules/report.smk"


rule all:
    default_target: True
    input:
        report_to_make,
