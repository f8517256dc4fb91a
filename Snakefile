"""Build database servers, benchmark them, and report what got faster, by how much and with what certainty.

snakemake --cores all results/report.html            the study of config.yaml
snakemake --cores all --configfile studies/quick.yaml  another study; its report is results/studies/quick/report.html
snakemake -n                                          what would be made, and how long it would take
"""


include: "rules/common.smk"  # the study, its plan, the names in paths
include: "rules/inputs.smk"  # functions: inputs, recipes and priorities
include: "rules/reported.smk"  # functions: what the report is made from


if not PARTIAL:  # a partial report is made from the runs that exist

    include: "rules/source.smk"  # sources of servers
    include: "rules/build.smk"  # compile, instrument, optimise, BOLT; audits
    include: "rules/check.smk"  # the same answers from every build
    include: "rules/train.smk"  # profiles
    include: "rules/dataset.smk"  # tables, loaded once
    include: "rules/measure.smk"  # blocks, side by side or by turns; diagnoses

    if precision_rule.settings(PLAN.study):

        include: "rules/stop.smk"  # whether a study with `precision` measures another repetition


include: "rules/tables.smk"  # from runs to tables
include: "rules/report.smk"  # proofs, figures, page, summary


rule all:
    default_target: True
    input:
        report_to_make,
