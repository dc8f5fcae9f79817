// A conversation of several turns with one client.
import assert from 'node:assert/strict';
import { PortcullisClient } from 'portcullis';
import { stage } from './support.mjs';

const at = await stage({ script: ['Hello.', 'You said 17.'] });
const client = new PortcullisClient(at.options);
try {
  await client.connect();
  const answers = [];
  for (const prompt of ['remember 17', 'what did I say?']) {
    await client.query(prompt);
    for await (const message of client.receiveResponse()) {
      if (message.type === 'result') answers.push(message.result);
    }
  }
  assert.deepEqual(answers, ['Hello.', 'You said 17.']);
  assert.match(JSON.stringify(at.model.requests[1].body), /remember 17/);
  console.log(answers.join(' '));
} finally {
  await client[Symbol.asyncDispose]();
  await at.close();
}
