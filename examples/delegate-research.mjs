// A primary agent that must delegate research: the search tool is closed to it and open to its researcher.
// The ban is scoped to one agent, so it does not reach the agents below it.
import assert from 'node:assert/strict';
import { createSdkMcpServer, query, tool } from 'portcullis';
import { z } from 'zod';
import { all, stage, toolResults } from './support.mjs';

const searched = [];
const library = createSdkMcpServer({
  name: 'library',
  tools: [
    tool('search', 'Searches the library.', { about: z.string() }, async ({ about }) => {
      searched.push(about);
      return { content: [{ type: 'text', text: `three books about ${about}` }] };
    }),
  ],
});
const search = { tool: 'mcp__library__search', input: { about: 'gates' } };
const at = await stage({
  actors: [
    {
      name: 'researcher',
      match: { firstUser: 'RESEARCH' },
      replies: [search, 'There are three books about gates.'],
    },
    {
      name: 'primary',
      replies: [
        search,
        {
          tool: 'Agent',
          input: { subagent_type: 'researcher', description: 'look', prompt: 'RESEARCH gates' },
        },
        'The researcher found three books.',
      ],
    },
  ],
});
try {
  const { messages, result } = await all(
    query({
      prompt: 'what do we have about gates?',
      options: {
        ...at.options,
        mcpServers: { library },
        allowedTools: ['mcp__library', 'Agent'],
        agents: {
          researcher: { description: 'Searches the library.', prompt: 'You search.' },
        },
        settings: JSON.stringify({
          portcullis: { agents: { main: { deny: ['mcp__library__search'] } } },
        }),
      },
    }),
  );
  assert.deepEqual(searched, ['gates'], 'the researcher searched once, the primary never');
  assert.equal(result.result, 'The researcher found three books.');
  assert.match(toolResults(at.model)[0], /kept from main/, 'the primary was told who can do it');
  const who = new Set(messages.map(({ agent }) => agent?.path));
  assert.ok([...who].some((path) => path?.startsWith('main/researcher')), 'lineage on every message');
  console.log('the primary was refused, its researcher was not');
} finally {
  await at.close();
}
