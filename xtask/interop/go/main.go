// Command interop is the Go client program of `cargo xtask interop`: `interop VERB name=value ...`.
// Exit code 0 = done, 3 = the deadline passed first, 1 = any other failure.
package main

import (
	"fmt"
	"os"

	"github.com/apache/rocketmq-client-go/v2/rlog"
)

// deadlinePassed is the exit code of a verb that stopped at its deadline.
const deadlinePassed = 3

func main() {
	rlog.SetLogLevel("warn")
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(args []string) (int, error) {
	if len(args) == 0 {
		return 0, fmt.Errorf("expected a verb, found no argument")
	}
	arguments, err := parseArguments(args[1:])
	if err != nil {
		return 0, err
	}
	switch args[0] {
	case "produce":
		return produce(arguments)
	case "consume":
		return consume(arguments)
	}
	return 0, fmt.Errorf("unknown verb %s", args[0])
}
