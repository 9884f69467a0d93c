"""Runs statements in Spark, in this process."""
from pyspark.sql import SparkSession
from rows import is_query, show, statements

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "2g")
    .config("spark.sql.shuffle.partitions", "4")
    .config("spark.sql.session.timeZone", "UTC")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
for one in statements():
    frame = spark.sql(one)
    if is_query(one):
        show(frame.columns, [tuple(row) for row in frame.collect()])
spark.stop()
