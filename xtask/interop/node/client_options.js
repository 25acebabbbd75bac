'use strict';

// What producer and consumer have in common. The log goes to standard error; only warnings and errors are kept.
module.exports = function clientOptions(args) {
  return {
    nameSrv: args.namesrv,
    // Asked for by the library, used only to look up name servers by URL.
    httpclient: { request() { throw new Error('the name server address is given'); } },
    clientIP: '127.0.0.1',
    logger: {
      debug() {},
      info() {},
      warn: (...parts) => console.error('warn', ...parts),
      error: (...parts) => console.error('error', ...parts),
    },
  };
};
