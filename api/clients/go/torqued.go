// Package torqued calls a torqued server. Numbers cross as JSON: encoding/json writes the fewest digits that read back as the
// same float64, so no bit is lost.
package torqued

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
)

// Client is a connection to one server; goroutines may share it. HTTP may hold a client of one's own, for example with the
// certificate of a private authority or with a dialer to a Unix socket.
type Client struct {
	URL   string // such as http://127.0.0.1:8088
	Token string // bearer token, never part of URL
	HTTP  *http.Client
}

// New makes a client with the token of the environment variable TORQUED_TOKEN, if there is one.
func New(url string) *Client {
	return &Client{URL: url, Token: os.Getenv("TORQUED_TOKEN"), HTTP: http.DefaultClient}
}

// Problem is an answer with an error status: an RFC 9457 problem document.
type Problem struct {
	Status  int    `json:"status"`
	Code    string `json:"code"`    // such as wrong-shape; /problems/{code} of the server explains it
	Pointer string `json:"pointer"` // to the refused field of the request, such as /q/3
	Row     *int   `json:"row"`     // of the batch, from 0; nil: none named
	Detail  string `json:"detail"`
}

func (p *Problem) Error() string { return fmt.Sprintf("%s %s: %s", p.Code, p.Pointer, p.Detail) }

// Evaluate posts `request` to an operation of a model and decodes the answer, both by the rules of encoding/json.
func (c *Client) Evaluate(model, operation string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	address := c.URL + "/v1/models/" + url.PathEscape(model) + "/" + url.PathEscape(operation)
	post, err := http.NewRequest("POST", address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	post.Header.Set("Content-Type", "application/json")
	post.Header["Idempotency-Key"] = nil // not sent; net/http then repeats the request if the kept connection was closed
	if c.Token != "" {
		post.Header.Set("Authorization", "Bearer "+c.Token)
	}
	reply, err := c.HTTP.Do(post)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		problem := &Problem{Status: reply.StatusCode, Detail: reply.Status}
		_ = json.NewDecoder(reply.Body).Decode(problem) // a proxy's page is no problem document
		return problem
	}
	return json.NewDecoder(reply.Body).Decode(answer)
}
