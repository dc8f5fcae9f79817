import { describe, expect, it } from 'vitest';
import { listingOf } from '../../src/mcp/tools/listing.js';
import { httpRig } from './connection-http-rig.js';
import { connectTo, remote } from './connection-rig.js';

describe('the tools of a server over HTTP', () => {
  it('are offered when one of them cannot be, and that one is told of', async () => {
    const deep = `${'['.repeat(2_000)}${']'.repeat(2_000)}`;
    const tools = [
      '{"name":"a","inputSchema":{"type":"object","properties":{"__proto__":{}}}}',
      `{"name":"b","inputSchema":{"type":"object","default":${deep}}}`,
      '{"name":"c","inputSchema":{"type":"object"}}',
    ];
    const rig = await httpRig(({ body, response }) => {
      if (body.method !== 'tools/list') return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"jsonrpc":"2.0","id":${body.id},"result":{"tools":[${tools.join(',')}]}}`);
      return true;
    });
    const connection = connectTo(remote('http', rig.url));
    const listed = await connection.listTools();
    const { declaration } = connection;
    const given = listed.ok ? listed.value : [];
    const listing = listingOf({ declaration, tools: given });
    expect(listing.tools.map(({ name }) => name)).toEqual(['c']);
    const why = 'its definition is nested too deep, or something in it is named "__proto__"';
    expect(listing.problems).toEqual([
      `the tool "a" of the MCP server "srv" is not offered: ${why}`,
      `the tool "b" of the MCP server "srv" is not offered: ${why}`,
    ]);
  });

  it('are not asked for without end, and the error says so', async () => {
    const rig = await httpRig(({ body, json, before }) => {
      if (body.method !== 'tools/list') return false;
      const result = { tools: [], nextCursor: before % 2 === 0 ? 'a' : 'b' };
      json(200, { jsonrpc: '2.0', id: body.id, result });
      return true;
    });
    expect(await connectTo(remote('http', rig.url)).listTools()).toMatchObject({
      error: {
        code: 'protocol',
        message: 'MCP server "srv" gives its list in more than 100 pages.',
      },
    });
  });
});
