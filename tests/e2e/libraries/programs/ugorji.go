// ugorji.go - ugorji/go/codec: ugorji cbor|msgpack encode|decode turns JSON on standard input into bytes, or bytes into JSON.
package main

import (
	"encoding/json"
	"io"
	"os"

	"github.com/ugorji/go/codec"
)

func main() {
	var handle codec.Handle = &codec.CborHandle{}
	if os.Args[1] == "msgpack" {
		handle = &codec.MsgpackHandle{}
	}
	input, _ := io.ReadAll(os.Stdin)
	var output []byte
	if os.Args[2] == "decode" {
		var answer struct {
			Tau [][]float64 `codec:"tau" json:"tau"`
		}
		if err := codec.NewDecoderBytes(input, handle).Decode(&answer); err != nil {
			panic(err)
		}
		output, _ = json.Marshal(answer)
	} else {
		var value map[string]interface{}
		json.Unmarshal(input, &value)
		if err := codec.NewEncoderBytes(&output, handle).Encode(value); err != nil {
			panic(err)
		}
	}
	os.Stdout.Write(output)
}
