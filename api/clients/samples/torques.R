# torques.R - posts one state of a Puma 560 and prints its torques, or the detail of the refusal.
library(curl)
library(jsonlite)
url <- commandArgs(TRUE)[1]

# toJSON writes 15 digits at most, whatever its argument digits says. Text of the class "json" goes through as it is.
numbers <- function(x) structure(paste0("[", paste(sprintf("%.17g", x), collapse = ","), "]"), class = "json")
state <- list(q = numbers(c(0, pi / 4, pi, 0, pi / 4, 0)), qd = numbers(rep(1, 6)), qdd = numbers(rep(1, 6)))
handle <- new_handle(copypostfields = toJSON(state, json_verbatim = TRUE))
handle_setheaders(handle, "Content-Type" = "application/json")
reply <- curl_fetch_memory(url, handle)     # unlike url() and download.file, keeps the body of a refusal
answer <- fromJSON(rawToChar(reply$content))
if (reply$status_code != 200) {
  cat(answer$pointer, ": ", answer$detail, "\n", sep = "", file = stderr())
  quit(status = 1)
}
cat(sprintf("%.17g", answer$tau), sep = ",")
cat("\n")
