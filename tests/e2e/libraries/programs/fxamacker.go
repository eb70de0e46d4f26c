// fxamacker.go - fxamacker/cbor: fxamacker encode|decode turns JSON on standard input into CBOR, or CBOR into JSON.
package main

import (
	"encoding/json"
	"io"
	"os"

	"github.com/fxamacker/cbor"
)

func main() {
	input, _ := io.ReadAll(os.Stdin)
	var output []byte
	if os.Args[1] == "decode" {
		var answer struct {
			Tau [][]float64 `cbor:"tau" json:"tau"`
		}
		if err := cbor.Unmarshal(input, &answer); err != nil {
			panic(err)
		}
		output, _ = json.Marshal(answer)
	} else {
		var value map[string]interface{}
		json.Unmarshal(input, &value)
		output, _ = cbor.Marshal(value)
	}
	os.Stdout.Write(output)
}
