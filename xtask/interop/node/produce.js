'use strict';

const { Producer, Message } = require('ali-ons');
const clientOptions = require('./client_options');
const jsonLines = require('./json_lines');

function toMessage(topic, planned) {
  const message = new Message(topic, Buffer.from(planned.body, 'base64'));
  if (planned.tag === null) {
    // A message without a tag carries the property with the value null, which the library would write as text.
    delete message.properties.TAGS;
  } else {
    message.tags = planned.tag;
  }
  if (planned.keys.length > 0) {
    message.keys = planned.keys;
  }
  Object.assign(message.properties, { id: planned.id }, planned.properties);
  return message;
}

// Sends every message of a plan and notes each acknowledgement.
module.exports = async function produce(args) {
  const producer = new Producer(Object.assign(clientOptions(args), {
    producerGroup: args.group,
    sendMsgTimeout: 10000,
  }));
  producer.on('error', failure => console.error(failure));
  await producer.ready();
  const out = jsonLines.create(args.out);
  for (const planned of jsonLines.read(args.plan)) {
    const result = await producer.send(toMessage(args.topic, planned));
    out.write({
      id: planned.id,
      status: result.sendStatus,
      // The library makes no unique keys: its message id is the broker's offset id.
      uniqueKey: null,
      offsetId: result.msgId,
      // The response header gives text.
      queueId: Number(result.messageQueue.queueId),
      queueOffset: result.queueOffset,
    });
  }
  await producer.close();
  return 0;
};
