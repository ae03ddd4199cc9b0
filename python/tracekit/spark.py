"""Merges ranks on Apache Spark: tracekit.cluster with the executor for Spark, as a program that spark-submit can run.

    python -m tracekit.spark merge 's3://bucket/job/rank*.json.gz' merged.pftrace.gz

    from tracekit import spark
    spark.merge("s3://bucket/job/rank*.json.gz", "merged.pftrace.gz")
"""
import argparse

if __package__:
    from . import _executors, cluster
else:  # run as a file, without the library of the package
    import _executors
    import cluster

Failed = cluster.Failed
find = cluster.find


def merge(paths, out, *, options=(), scan_options=(), spark=None, **more):
    """Merges ranks, given as paths and patterns, into one file on one timeline.

    options       options of `tracekit merge`
    scan_options  other options of `tracekit scan`: ["--anchor", "barrier"]
    spark         a SparkSession or SparkContext (default: the active one, or a new one)
    more          format, command, ship, work, keep_going, force, table and say, as in tracekit.cluster.merge

    Returns the ranks that were left out, as (path, reason).
    """
    routed = cluster.route(options)
    routed["scan"] += scan_options
    if spark is None:
        return cluster.merge(paths, out, executor="spark", options=routed, **more)
    return cluster.merge(paths, out, executor=_executors.Spark(spark), options=routed, **more)


def main(argv=None):
    p = argparse.ArgumentParser(prog="python -m tracekit.spark", description="Merges the ranks of a job on Apache Spark.",
                                epilog="Arguments after -- are options of `tracekit merge`: -- --every-rank 8 --group-by host")
    p.add_argument("what", choices=["merge"])
    p.add_argument("paths", nargs="+", metavar="RANK", help="paths, URIs and patterns; the last one is the output")
    p.add_argument("--master", help="Spark's master, such as local[4] (default: from spark-submit or its configuration)")
    cluster.add_options(p)
    arguments, options = cluster.split_arguments(argv)
    a = p.parse_args(arguments)
    if len(a.paths) < 2:
        p.error("expected ranks, followed by the output")
    cluster.run(a, a.paths[:-1], a.paths[-1], options, "spark", address=a.master)


if __name__ == "__main__":
    main()
