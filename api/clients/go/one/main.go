// Command one asks for the torques that move a Puma 560 as wanted.
package main

import (
	"fmt"
	"log"
	"os"
	"torqued"
)

func main() {
	client := torqued.New(append(os.Args, "http://127.0.0.1:8088")[1])
	var answer struct{ Tau []float64 } // N m
	err := client.Evaluate("puma560", "inverse-dynamics", map[string]any{
		"q":   []float64{0, 0.7853981633974483, 3.141592653589793, 0, 0.7853981633974483, 0}, // rad
		"qd":  []float64{1, 1, 1, 1, 1, 1},
		"qdd": []float64{1, 1, 1, 1, 1, 1},
	}, &answer)
	if err != nil {
		log.Fatal(err)
	}
	for i, tau := range answer.Tau {
		fmt.Printf("%.17g%s", tau, map[bool]string{true: "\n", false: ","}[i == 5])
	}
}
