'use strict';

const fs = require('fs');

// A file of JSON objects, one a line; each line is handed to the system at once.
exports.create = function create(path) {
  const file = fs.openSync(path, 'w');
  return { write: object => fs.writeSync(file, JSON.stringify(object) + '\n') };
};

exports.read = function read(path) {
  return fs.readFileSync(path, 'utf8').split('\n').filter(line => line !== '').map(line => JSON.parse(line));
};
