#!/usr/bin/env Rscript
# SPDX-License-Identifier: GPL-2.0-or-later
# Reads the lab book and documents of EMP: read.R BOOK [FILE.json...]
#
# Prints the mean process time of each run in the book with its 95 % interval, why samples were discarded, and the spread of the
# samples kept; and the same means of documents of emp-measure. Debian has the packages: r-cran-rsqlite and r-cran-jsonlite.
suppressPackageStartupMessages({
  library(DBI)
  library(jsonlite)
})

files <- commandArgs(trailingOnly = TRUE)
if (length(files) < 1) stop("Usage: read.R BOOK [FILE.json...]")

# Only to be read. Points in time need 64 bits, which R keeps as a type of its own: times of samples do not.
book <- dbConnect(RSQLite::SQLite(), files[1], flags = RSQLite::SQLITE_RO, bigint = "numeric")
results <- dbGetQuery(book, "SELECT run, name, samples, kept, mean_ns / 1e6 AS mean_ms, low_ns / 1e6 AS low_ms,
  high_ns / 1e6 AS high_ms FROM results WHERE clock = 'pt' ORDER BY run")
print(results, row.names = FALSE)
discards <- dbGetQuery(book, "SELECT rule, ifnull(daemon, '-') AS daemon, count(DISTINCT run || ' ' || sample) AS samples
  FROM discards GROUP BY 1, 2 ORDER BY 3 DESC")
print(discards, row.names = FALSE)
samples <- dbGetQuery(book, "SELECT run, pt_ns FROM samples WHERE kept")
if (nrow(samples) > 0) print(aggregate(pt_ns / 1e6 ~ run, samples, sd), row.names = FALSE)
dbDisconnect(book)

for (file in files[-1]) {
  document <- fromJSON(file, simplifyVector = FALSE)
  if (document$format != "emp-measure") stop(file, " is no document of emp-measure: its format is ", document$format)
  for (result in document$results) {
    kept <- result$emp$pt$kept
    interval <- if (is.null(kept$interval_ns)) c(NA, NA) else unlist(kept$interval_ns) / 1e6
    cat(sprintf("%s: %.3f ms, 95 %% CI %.3f ... %.3f, %d samples\n", result$command, kept$mean_ns / 1e6, interval[1], interval[2], kept$n))
  }
}
