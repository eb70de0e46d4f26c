#!/bin/bash
# R: toJSON's digits is the number of decimal digits of a number, and NA stands for the maximum of precision (help of jsonlite). The maximum is 15 significant
# digits, two fewer than a double needs: 0.1 + 0.2 and most measured values come back as other numbers, and a value that is read, written and
# read again by R and by another program differs. digits = I(17), significant digits, is also cut to 15.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v Rscript >R.log 2>&1 || { echo "no R here"; exit 77; }
apt-get download r-cran-jsonlite=1.8.4+dfsg-1 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
cat >finding.R <<'FILE'
library(jsonlite, lib.loc = "root/usr/lib/R/site-library")
cat("jsonlite", as.character(packageVersion("jsonlite", lib.loc = "root/usr/lib/R/site-library")), "\n")
values <- c(0.1 + 0.2, 1 / 3, 2 / 3, pi, 9.80665, exp(1) * 1e5)
again <- function(...) fromJSON(toJSON(values, ...))
for (value in values)
    cat(sprintf("%.17g: digits = NA writes %s, I(17) writes %s\n", value, toJSON(value, digits = NA, auto_unbox = TRUE),
                toJSON(value, digits = I(17), auto_unbox = TRUE)))
lost <- sum(again(digits = NA) != values)
significant <- sum(again(digits = I(17)) != values)
other <- sum(as.numeric(sprintf("%.17g", values)) != values)
cat(sprintf("of %d numbers come back as others: expected 0; digits = NA %d, digits = I(17) %d; R's own 17 digits %d\n", length(values), lost, significant, other))
quit(status = if (lost == 5 && significant == 5 && other == 0) 0 else 1)
FILE
Rscript --vanilla finding.R
