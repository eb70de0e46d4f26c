"""Makes api/clients/SAMPLES.md from samples.yaml and the samples beside it. tests/reference_pages.py calls it."""
import os
import textwrap

import yaml

FOLDER = os.path.dirname(os.path.abspath(__file__))
HEAD = """<!-- Made by tests/reference_pages.py from api/clients/samples/: change that, then `make reference`. -->
# Samples in further languages

Each program of [samples/](samples) posts one state of a Puma 560 with what its language has for HTTP and JSON, without a client, and
prints the torques with all digits, or where and why the server refused. Copy one and replace the state. The languages with a client
are in [README.md](README.md). Start a server with `make run`; the argument is the address of an operation:

```console
$ URL=http://127.0.0.1:8088/v1/models/puma560/inverse-dynamics
$ ruby torques.rb $URL
32.49524275493071,60.8669884751363,17.74359491276432,1.4545190260797085,1.2991104105378866,0.713780887483695
$ ruby torques.rb http://127.0.0.1:8088/v1/models/two_link/inverse-dynamics
/q: 6 entries given, 2 expected (nq of two_link)
```

A double needs 17 significant digits. Many libraries write fewer by default, and the server then computes for the rounded
state. *Digits* says what the language loses and how the sample keeps it; the table of
[JSON libraries](README.md#json-libraries-and-their-digits) has the figures. *Refusals* says how the reason of a 422 is read or lost.

"""
WIDTH = 130


def shell_lines(sample):
    commands = [sample["build"]] if "build" in sample else []
    return "\n".join(f"$ {command}" for command in [*commands, *([] if "by_hand" in sample else [f"{sample['run']} $URL"])])


def section(sample):
    with open(os.path.join(FOLDER, sample["file"]), encoding="utf-8") as file:
        source = file.read().rstrip()
    ending = os.path.splitext(sample["file"])[1][1:].lower()
    lead = f"`apt install {' '.join(sample['packages'])}`" if sample["packages"] else sample["by_hand"]
    commands = shell_lines(sample)
    parts = [f"## {sample['language']}", textwrap.fill(lead, WIDTH, break_on_hyphens=False),
             *(textwrap.fill(f"*{name.capitalize()}.* {sample[name]}", WIDTH, break_on_hyphens=False) for name in ("digits", "refusals")),
             *([f"```console\n{commands}\n```"] if commands else []), f"```{ending}\n{source}\n```"]
    return "\n\n".join(parts) + "\n"


def samples():
    with open(os.path.join(FOLDER, "samples.yaml"), encoding="utf-8") as file:
        return yaml.safe_load(file)


def page():
    return HEAD + "\n".join(section(sample) for sample in samples())
