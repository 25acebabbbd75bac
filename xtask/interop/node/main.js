'use strict';

// Runs one verb: `node main.js VERB name=value ...`.
// Exit code 0 = done, 3 = the deadline passed first, 1 = any other failure.

const DEADLINE_PASSED = 3;
const verbs = { produce: require('./produce'), consume: require('./consume') };

function parseArguments(args) {
  const values = {};
  for (const arg of args) {
    const equals = arg.indexOf('=');
    if (equals <= 0) throw new Error(`expected name=value, found ${arg}`);
    values[arg.slice(0, equals)] = arg.slice(equals + 1);
  }
  return values;
}

async function main() {
  const verb = verbs[process.argv[2]];
  if (!verb) throw new Error(`unknown verb ${process.argv[2]}`);
  const args = parseArguments(process.argv.slice(3));
  const deadline = new Promise(resolve => setTimeout(resolve, Number(args.deadlineMs || 30000), DEADLINE_PASSED));
  return await Promise.race([ verb(args), deadline ]);
}

// The library keeps a default producer of its own open for ever: the program ends by exit, not by idleness.
main().then(
  code => process.exit(code),
  failure => {
    console.error(failure);
    process.exit(1);
  }
);
