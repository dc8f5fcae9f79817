import { describe, it } from 'vitest';
import { anthropicClient } from '../../src/model/anthropic/client.js';
import { openAiClient } from '../../src/model/openai/client.js';
import { scriptedClient } from '../../src/model/scripted/client.js';
import { scriptOf } from '../../src/model/scripted/format.js';
import { modelClientContract } from '../../src/testing/contracts/model-client.js';
import { startFakeModelServer } from '../../src/testing/fake-model-server.js';

const runner = {
  describe: (name: string, body: () => void) => void describe(name, body),
  it: (name: string, body: () => Promise<void>) => void it(name, body),
};
const userAgent = 'portcullis/test';

modelClientContract(runner, 'the scripted client', async (script) => ({
  client: scriptedClient(scriptOf(script)),
  close: async () => {},
}));

modelClientContract(runner, 'the Anthropic client', async (script) => {
  const server = await startFakeModelServer({ script });
  const client = anthropicClient({ baseUrl: server.url, apiKey: 'k', userAgent });
  return { client, close: server.close };
});

modelClientContract(runner, 'the OpenAI-compatible client', async (script) => {
  const server = await startFakeModelServer({ script });
  const client = openAiClient({ baseUrl: `${server.url}/v1`, apiKey: 'k', userAgent });
  return { client, close: server.close };
});
