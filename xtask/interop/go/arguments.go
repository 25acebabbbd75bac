package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// arguments are the name=value pairs behind the verb.
type arguments map[string]string

func parseArguments(args []string) (arguments, error) {
	values := arguments{}
	for _, arg := range args {
		name, value, found := strings.Cut(arg, "=")
		if !found {
			return nil, fmt.Errorf("expected name=value, found %s", arg)
		}
		values[name] = value
	}
	return values, nil
}

// number gives the value of a name, or fallback when it is absent or no number.
func (a arguments) number(name string, fallback int) int {
	if value, err := strconv.Atoi(a[name]); err == nil {
		return value
	}
	return fallback
}

func (a arguments) millis(name string, fallback int) time.Duration {
	return time.Duration(a.number(name, fallback)) * time.Millisecond
}
