package main

import (
	"context"
	"fmt"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

// produce sends every message of a plan and notes each acknowledgement.
func produce(args arguments) (int, error) {
	plan, err := readPlan(args["plan"])
	if err != nil {
		return 0, err
	}
	out, err := createLines(args["out"])
	if err != nil {
		return 0, err
	}
	client, err := rocketmq.NewProducer(
		producer.WithNsResolver(primitive.NewPassthroughResolver([]string{args["namesrv"]})),
		producer.WithGroupName(args["group"]),
		producer.WithSendMsgTimeout(10*time.Second),
		producer.WithRetry(2),
	)
	if err != nil {
		return 0, err
	}
	if err := client.Start(); err != nil {
		return 0, err
	}
	for _, line := range plan {
		message := primitive.NewMessage(args["topic"], line.Body)
		if line.Tag != nil {
			message.WithTag(*line.Tag)
		}
		if len(line.Keys) > 0 {
			message.WithKeys(line.Keys)
		}
		message.WithProperty("id", line.ID)
		for name, value := range line.Properties {
			message.WithProperty(name, value)
		}
		result, err := client.SendSync(context.Background(), message)
		if err != nil {
			return 0, fmt.Errorf("message %s: %w", line.ID, err)
		}
		status := fmt.Sprintf("status %d", result.Status)
		if result.Status == primitive.SendOK {
			status = "SEND_OK"
		}
		err = out.write(acknowledged{
			ID:          line.ID,
			Status:      status,
			UniqueKey:   result.MsgID,
			OffsetID:    result.OffsetMsgID,
			QueueID:     result.MessageQueue.QueueId,
			QueueOffset: result.QueueOffset,
		})
		if err != nil {
			return 0, err
		}
	}
	return 0, client.Shutdown()
}
