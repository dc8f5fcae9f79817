import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type HttpRig, httpRig } from './connection-http-rig.js';
import { call, connectTo, remote, text } from './connection-rig.js';
import { sseRig } from './connection-sse-rig.js';

type Members = Record<string, unknown>;

const said = { content: [{ type: 'text', text: 'hello' }] };

/** Waits as long as these are, where an answer is not noticed. */
const timeouts = { idleMs: 20_000, totalMs: 20_000 };

/** A server that answers calls as it is told, in a body or in an event of a stream that stays open. */
function answering(
  kind: 'body' | 'stream',
  answers: (id: unknown) => readonly unknown[],
): Promise<HttpRig> {
  return httpRig(({ body, response }) => {
    if (body.method !== 'tools/call') return false;
    const values = answers(body.id);
    if (kind === 'body') sendBody(response, values);
    else {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const value of values) response.write(`data: ${JSON.stringify(value)}\r\n\r\n`);
    }
    return true;
  });
}

function sendBody(response: ServerResponse, values: readonly unknown[]): void {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(values.length === 1 ? values[0] : values));
}

const WAYS: readonly [string, (members: (id: unknown) => Members) => Promise<unknown>][] = [
  [
    'over SSE',
    async (members) => {
      const rig = await sseRig(members);
      return call(connectTo(remote('sse', rig.url), { timeouts }), 'x');
    },
  ],
  ...(['body', 'stream'] as const).map(
    (kind): [string, (members: (id: unknown) => Members) => Promise<unknown>] => [
      `over HTTP, in a ${kind}`,
      async (members) => {
        const rig = await answering(kind, (id) => [{ jsonrpc: '2.0', id, ...members(id) }]);
        return call(connectTo(remote('http', rig.url), { timeouts }), 'x');
      },
    ],
  ),
];

describe.each(WAYS)('an answer %s', (_way, ask) => {
  it('is used without the members that the protocol does not know', async () => {
    const result = await ask(() => ({ result: said, server: 'x', error: null }));
    expect(result).toMatchObject({ ok: true, value: said });
  });

  it('may write its id as text', async () => {
    expect(await ask((id) => ({ id: String(id), result: said }))).toMatchObject({ ok: true });
  });

  it('that is an error keeps its words', async () => {
    const error = { code: -32050, message: 'not today', hint: 1 };
    expect(await ask(() => ({ error, server: 'x' }))).toMatchObject({
      error: { code: 'server-error', message: expect.stringContaining('-32050: not today') },
    });
  });

  it.each([
    ['a result and an error', { result: said, error: { code: 1, message: 'x' } }],
    ['neither of both', {}],
    ['a result that is none', { result: 5 }],
    ['a method', { result: said, method: 'ping' }],
  ])('with %s fails the call at once', async (_what, members) => {
    expect(await ask(() => members)).toMatchObject({
      ok: false,
      error: {
        code: 'protocol',
        message: 'MCP server "srv" answered with something that is not MCP.',
        mayHaveRun: true,
      },
    });
  });
});

describe('a request over HTTP', () => {
  const wrongId = 'answered with the id "other\\u202e", which is not that of the request.';

  it.each(['body', 'stream'] as const)(
    'fails at once when its %s answers another one',
    async (kind) => {
      const rig = await answering(kind, () => [
        { jsonrpc: '2.0', id: 'other\u202e', result: said },
      ]);
      const connection = connectTo(remote('http', rig.url), { timeouts });
      expect(await call(connection, 'x')).toMatchObject({
        error: {
          code: 'protocol',
          message: `MCP server "srv" ${wrongId}`,
          mayHaveRun: true,
        },
      });
      // The rest of the server is as good as before.
      expect(connection.status().state).toBe('connected');
      expect((await connection.listTools()).ok).toBe(true);
    },
  );

  it('fails at once when it is only accepted', async () => {
    const rig = await httpRig(({ body, response }) => {
      if (body.method !== 'tools/call') return false;
      response.writeHead(202).end();
      return true;
    });
    expect(await call(connectTo(remote('http', rig.url), { timeouts }), 'x')).toMatchObject({
      error: {
        code: 'protocol',
        message:
          'MCP server "srv" accepted the request with HTTP 202, which means that no answer comes.',
        mayHaveRun: true,
      },
    });
  });

  it('that is only accepted fails the connecting as well', async () => {
    const rig = await httpRig(({ body, response }) => {
      if (body.id === undefined) return false;
      response.writeHead(202).end();
      return true;
    });
    const connection = connectTo(remote('http', rig.url), { timeouts: { connectMs: 20_000 } });
    expect(await connection.connect()).toMatchObject({
      error: { code: 'protocol', message: expect.stringContaining('HTTP 202') },
    });
  });

  it.each([[[]], [[{ jsonrpc: '2.0', method: 'notifications/progress' }]]])(
    'fails at once when its body holds no answer: %j',
    async (messages) => {
      const rig = await answering('body', () => messages);
      expect(await call(connectTo(remote('http', rig.url), { timeouts }), 'x')).toMatchObject({
        error: { code: 'protocol', message: expect.stringContaining('none is an answer') },
      });
    },
  );

  it.each(['body', 'stream'] as const)('finds its answer among several in a %s', async (kind) => {
    const several = (id: unknown) => [
      { jsonrpc: '2.0', method: 'notifications/progress', extra: 1 },
      { jsonrpc: '2.0', id, result: said, extra: 1 },
    ];
    const rig = await answering(kind, (id) => (kind === 'body' ? several(id) : [several(id)]));
    expect(text(await call(connectTo(remote('http', rig.url), { timeouts }), 'x'))).toBe('hello');
  });

  it.each(['body', 'stream'] as const)(
    'fails with the words of its %s when that is an error without an id',
    async (kind) => {
      const error = { code: -32700, message: 'not read' };
      for (const id of [{ id: null }, {}]) {
        const rig = await answering(kind, () => [{ jsonrpc: '2.0', ...id, error }]);
        expect(await call(connectTo(remote('http', rig.url), { timeouts }), 'x')).toMatchObject({
          error: { code: 'server-error', message: expect.stringContaining('-32700: not read') },
        });
      }
    },
  );

  it('may get its answer on the stream of another one', async () => {
    let first: { readonly id: unknown; readonly response: ServerResponse } | undefined;
    const rig = await httpRig(({ body, response }) => {
      if (body.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      if (first === undefined) {
        first = { id: body.id, response };
        return true;
      }
      for (const id of [body.id, first.id]) {
        first.response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: said })}\n\n`);
      }
      return true;
    });
    const connection = connectTo(remote('http', rig.url), { timeouts });
    await connection.connect();
    const both = await Promise.all([call(connection, 'x'), call(connection, 'y')]);
    expect(both.map(text)).toEqual(['hello', 'hello']);
  });

  it('that is answered twice has its first answer', async () => {
    const rig = await answering('stream', (id) => [
      { jsonrpc: '2.0', id, result: said },
      { jsonrpc: '2.0', id, result: { content: [] } },
    ]);
    expect(text(await call(connectTo(remote('http', rig.url), { timeouts }), 'x'))).toBe('hello');
  });
});
