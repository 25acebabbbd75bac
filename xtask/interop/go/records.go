package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"sync"

	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// planned is one line of the plan file that the harness wrote: what to send.
type planned struct {
	ID         string            `json:"id"`
	Tag        *string           `json:"tag"`
	Keys       []string          `json:"keys"`
	Properties map[string]string `json:"properties"`
	Body       []byte            `json:"body"`
}

// acknowledged is the JSON form of an acknowledgement.
type acknowledged struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	UniqueKey   string `json:"uniqueKey"`
	OffsetID    string `json:"offsetId"`
	QueueID     int    `json:"queueId"`
	QueueOffset int64  `json:"queueOffset"`
}

// received is the JSON form of a delivered message.
type received struct {
	Topic          string            `json:"topic"`
	Properties     map[string]string `json:"properties"`
	BodyLength     int               `json:"bodyLength"`
	BodySha256     string            `json:"bodySha256"`
	UniqueKey      string            `json:"uniqueKey"`
	OffsetID       string            `json:"offsetId"`
	QueueID        int               `json:"queueId"`
	QueueOffset    int64             `json:"queueOffset"`
	PhysicalOffset int64             `json:"physicalOffset"`
	ReconsumeTimes int32             `json:"reconsumeTimes"`
	StoreHost      string            `json:"storeHost"`
	BornTimestamp  int64             `json:"bornTimestamp"`
	StoreTimestamp int64             `json:"storeTimestamp"`
}

func receivedFrom(message *primitive.MessageExt) received {
	sum := sha256.Sum256(message.Body)
	queue := -1
	if message.Queue != nil {
		queue = message.Queue.QueueId
	}
	return received{
		Topic:          message.Topic,
		Properties:     message.GetProperties(),
		BodyLength:     len(message.Body),
		BodySha256:     hex.EncodeToString(sum[:]),
		UniqueKey:      message.MsgId,
		OffsetID:       message.OffsetMsgId,
		QueueID:        queue,
		QueueOffset:    message.QueueOffset,
		PhysicalOffset: message.CommitLogOffset,
		ReconsumeTimes: message.ReconsumeTimes,
		StoreHost:      message.StoreHost,
		BornTimestamp:  message.BornTimestamp,
		StoreTimestamp: message.StoreTimestamp,
	}
}

// readPlan reads all lines of a plan file.
func readPlan(path string) ([]planned, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var plan []planned
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		var line planned
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			return nil, err
		}
		plan = append(plan, line)
	}
	return plan, scanner.Err()
}

// lines is a file of JSON objects, one a line; each line is handed to the system at once.
type lines struct {
	mutex sync.Mutex
	file  *os.File
}

func createLines(path string) (*lines, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &lines{file: file}, nil
}

func (l *lines) write(object any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	_, err = l.file.Write(append(text, '\n'))
	return err
}
