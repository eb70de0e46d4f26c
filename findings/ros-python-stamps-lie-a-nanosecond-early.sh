#!/bin/bash
# ROS: a time is made from seconds as a float by ros::Time(t) in C++ and by Time.from_sec(t) in Python (genpy; rospy.Time inherits it). C++ rounds to a
# nanosecond; Python cuts off. In Python, 39 percent of the whole milliseconds up to 10 s get a stamp that is 1 ns early, so the same
# instant has two stamps: joins by equal stamps, as of message_filters' exact time policy, find no partner.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v g++ >g++.log 2>&1 && [ "$(uname -m)" = x86_64 ] && [ -x /usr/bin/python3 ] || { echo "no g++ for x86-64 or no python3 here"; exit 77; }
apt-get download libroscpp-core-dev=0.7.2-8+b2 librostime1d=0.7.2-8+b2 libcpp-common0d=0.7.2-8+b2 libboost1.74-dev=1.74.0+ds1-21 \
    libconsole-bridge1.0=1.0.1+dfsg2-3+b1 python3-genpy=0.6.16-2 python3-genmsg=0.6.0-1 >apt.log 2>&1 || { tail -n 3 apt.log; exit 77; }
for package in *.deb; do dpkg -x "$package" root; done
cat >stamps.cpp <<'FILE'
#include <cstdio>
#include <ros/time.h>

int main()
{
    for (int i = 1; i <= 10000; i++)
        printf("%lu\n", ros::Time(i / 1000.).toNSec());
}
FILE
cat >finding.py <<'FILE'
import sys
import genpy

python = [genpy.Time.from_sec(i / 1000).to_nsec() for i in range(1, 10001)]
with open("stamps.txt", encoding="ascii") as file:
    cpp = [int(line) for line in file]
exact = [i * 10**6 for i in range(1, 10001)]
early = [i for i in range(10000) if python[i] == exact[i] - 1]
print("rostime 0.7.2 (C++), genpy 0.6.16 (Python): stamps of 0.001, 0.002, ... 10 s")
for i in early[:3] + [999]:
    print(f"{exact[i] / 1e9:g} s: expected {exact[i]} ns; C++ {cpp[i]}, Python {python[i]}")
print(f"stamps that are not the whole millisecond: C++ {sum(a != b for a, b in zip(cpp, exact))}, Python {len(early)}, each 1 ns early")
sys.exit(0 if cpp == exact and len(early) > 3500 and all(abs(a - b) <= 1 for a, b in zip(python, exact)) else 1)
FILE
g++ -w -O1 -I root/usr/include stamps.cpp -o stamps -L root/usr/lib/x86_64-linux-gnu -l:librostime.so.1d -Wl,-rpath-link,root/usr/lib/x86_64-linux-gnu
LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu ./stamps >stamps.txt
PYTHONPATH=root/usr/lib/python3/dist-packages /usr/bin/python3 finding.py
