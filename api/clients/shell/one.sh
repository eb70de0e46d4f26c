#!/bin/sh
# one.sh - prints the torques of a Puma 560 at one state.
q=[0,0.7853981633974483,3.141592653589793,0,0.7853981633974483,0]
torqued call puma560 inverse-dynamics q=$q qd=[1,1,1,1,1,1] qdd=[1,1,1,1,1,1] --to csv | tail -n 1
