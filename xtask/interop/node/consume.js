'use strict';

const crypto = require('crypto');
const { Consumer } = require('ali-ons');
const clientOptions = require('./client_options');
const jsonLines = require('./json_lines');

function received(message) {
  const body = message.body || Buffer.alloc(0);
  const properties = Object.assign({}, message.properties);
  // The library adds an empty name for the end of the property string, and a null tag where there is none.
  delete properties[''];
  if (properties.TAGS === null) {
    delete properties.TAGS;
  }
  return {
    topic: message.topic,
    properties,
    bodyLength: body.length,
    bodySha256: crypto.createHash('sha256').update(body).digest('hex'),
    uniqueKey: properties.UNIQ_KEY || message.msgId,
    offsetId: message.msgId,
    queueId: message.queueId,
    queueOffset: message.queueOffset,
    physicalOffset: message.commitLogOffset,
    reconsumeTimes: message.reconsumeTimes,
    storeHost: message.storeHost,
    bornTimestamp: message.bornTimestamp,
    storeTimestamp: message.storeTimestamp,
  };
}

// A push consumer that writes down every delivery. It ends when `expected` deliveries came and then none for
// `quietMs`, or after `stopAfter` deliveries.
module.exports = async function consume(args) {
  const out = jsonLines.create(args.out);
  const expected = Number(args.expected || Infinity);
  const stopAfter = Number(args.stopAfter || Infinity);
  const quiet = Number(args.quietMs || 500);
  let deliveries = 0;
  let finish;
  let silence;
  const finished = new Promise(resolve => { finish = resolve; });

  const consumer = new Consumer(Object.assign(clientOptions(args), {
    consumerGroup: args.group,
    consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
  }));
  consumer.on('error', failure => console.error(failure));

  async function handle(message) {
    if (deliveries >= stopAfter) {
      // Stays undelivered: the progress that closing commits ends before this message.
      await new Promise(() => {});
    }
    out.write(received(message));
    deliveries++;
    clearTimeout(silence);
    if (deliveries >= stopAfter) {
      // Lets the library note the progress of this message first.
      setTimeout(finish, 20);
    } else if (deliveries >= expected) {
      silence = setTimeout(finish, quiet);
    }
    return args.failFirst === 'true' && message.reconsumeTimes === 0 ? Consumer.ACTION_RETRY : undefined;
  }

  for (const topic of args.topics.split(',')) {
    consumer.subscribe(topic, args.expression || '*', handle);
  }
  await consumer.ready();
  await finished;
  await consumer.close();
  return 0;
};
