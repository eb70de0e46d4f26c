// Command batch writes the torques of a Panda along a motion of 10 000 states as CSV.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"torqued"
)

const rows = 10000

var (
	from = []float64{0, -0.5, 0, -2, 0, 1.5, 0.5} // rad
	to   = []float64{1, 0.5, -0.5, -1, 0.5, 2, -0.5}
)

func main() {
	var q, qd, qdd [rows][7]float64
	for i := range q { // from rest to rest in 2 s, the jerk as small as possible
		s := float64(i) / 9999
		for j := range from {
			way := to[j] - from[j]
			q[i][j] = from[j] + way*(s*s*s*(10+s*(6*s-15)))
			qd[i][j] = way * (30 * s * s * (1 - s) * (1 - s) / 2)
			qdd[i][j] = way * (60 * s * (1 - s) * (1 - 2*s) / 4)
		}
	}
	client := torqued.New(append(os.Args, "http://127.0.0.1:8088")[1])
	var answer struct{ Tau [][]float64 } // N m
	request := map[string]any{"q": q, "qd": qd, "qdd": qdd}
	if err := client.Evaluate("panda", "inverse-dynamics", request, &answer); err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "t,tau1,tau2,tau3,tau4,tau5,tau6,tau7")
	for i, row := range answer.Tau {
		fmt.Fprintf(out, "%.17g", float64(i)/9999*2)
		for _, tau := range row {
			fmt.Fprintf(out, ",%.17g", tau)
		}
		fmt.Fprintln(out)
	}
}
