#!/usr/bin/python3
"""coverage.py FOLDER - prints the share of lines and branches of each layer that the programs built in FOLDER ran
through (make coverage), and writes a report of every line to FOLDER/report/index.html."""
import json
import os
import subprocess
import sys

LAYERS = "dynamics", "api", "server"


def gcovr(*arguments):
    return subprocess.run(["gcovr", "--root", ".", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def main(folder):
    counts, report = os.path.join(folder, "coverage.json"), os.path.join(folder, "report")
    os.makedirs(report, exist_ok=True)
    # Left out: lane texts compiled for complex and extended numbers, which only tests use, and branches to C++ exceptions.
    gcovr("--filter", f"({'|'.join(LAYERS)})/", "--exclude-directories", ".*/(complex|extended)$", "--exclude-throw-branches",
          "--json", counts, folder)
    gcovr("--add-tracefile", counts, "--html-details", os.path.join(report, "index.html"))
    print(f"{'layer':10}{'lines':>8}{'run':>9}{'branches':>10}{'taken':>9}")
    for layer in LAYERS:
        found = json.loads(gcovr("--add-tracefile", counts, "--filter", f"{layer}/", "--json-summary"))
        print(f"{layer:10}{found['line_total']:8}{found['line_percent']:7} %{found['branch_total']:10}{found['branch_percent']:7} %")


if __name__ == "__main__":
    main(sys.argv[1])
