package main

import (
	"context"
	"strings"
	"sync"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// deliveries counts what came and remembers the first failure to write it down.
type deliveries struct {
	mutex   sync.Mutex
	count   int
	failure error
	changed chan struct{}
}

// consume is a push consumer that writes down every delivery. It ends when `expected` deliveries came and then none
// for `quietMs`, or after `stopAfter` deliveries, or at its deadline.
func consume(args arguments) (int, error) {
	out, err := createLines(args["out"])
	if err != nil {
		return 0, err
	}
	orderly := args["orderly"] == "true"
	options := []consumer.Option{
		consumer.WithNsResolver(primitive.NewPassthroughResolver([]string{args["namesrv"]})),
		consumer.WithGroupName(args["group"]),
		consumer.WithConsumerModel(consumer.Clustering),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
		consumer.WithConsumerOrder(orderly),
	}
	if threads := args.number("threads", 0); threads > 0 {
		options = append(options, consumer.WithConsumeGoroutineNums(threads))
	}
	if prefetch := args.number("prefetch", 0); prefetch > 0 {
		options = append(options, consumer.WithPullThresholdForQueue(int64(prefetch)))
	}
	client, err := rocketmq.NewPushConsumer(options...)
	if err != nil {
		return 0, err
	}
	seen := &deliveries{changed: make(chan struct{}, 1)}
	selector := consumer.MessageSelector{Type: consumer.TAG, Expression: "*"}
	if expression, given := args["expression"]; given {
		selector.Expression = expression
	}
	for _, topic := range strings.Split(args["topics"], ",") {
		if err := client.Subscribe(topic, selector, seen.listener(args, out, orderly)); err != nil {
			return 0, err
		}
	}
	if err := client.Start(); err != nil {
		return 0, err
	}
	complete := seen.await(args)
	if err := client.Shutdown(); err != nil {
		return 0, err
	}
	if seen.failure != nil {
		return 0, seen.failure
	}
	if !complete {
		return deadlinePassed, nil
	}
	return 0, nil
}

type listener = func(context.Context, ...*primitive.MessageExt) (consumer.ConsumeResult, error)

func (d *deliveries) listener(args arguments, out *lines, orderly bool) listener {
	pace := args.millis("paceMs", 0)
	failFirst := args["failFirst"] == "true"
	return func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		time.Sleep(pace)
		success := true
		for _, message := range messages {
			err := out.write(receivedFrom(message))
			success = success && (!failFirst || message.ReconsumeTimes > 0)
			d.mutex.Lock()
			d.count++
			if err != nil {
				d.failure = err
			}
			d.mutex.Unlock()
		}
		select {
		case d.changed <- struct{}{}:
		default:
		}
		if success {
			return consumer.ConsumeSuccess, nil
		}
		if orderly {
			return consumer.SuspendCurrentQueueAMoment, nil
		}
		return consumer.ConsumeRetryLater, nil
	}
}

// await waits for the end; false when the deadline came first.
func (d *deliveries) await(args arguments) bool {
	const never = int(^uint(0) >> 1)
	expected := args.number("expected", never)
	stopAfter := args.number("stopAfter", never)
	quiet := args.millis("quietMs", 500)
	deadline := time.After(args.millis("deadlineMs", 30_000))
	for {
		d.mutex.Lock()
		count := d.count
		d.mutex.Unlock()
		if count >= stopAfter {
			return true
		}
		var silence <-chan time.Time
		if count >= expected {
			silence = time.After(quiet)
		}
		select {
		case <-d.changed:
		case <-silence:
			return true
		case <-deadline:
			return false
		}
	}
}
