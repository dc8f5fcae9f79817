import { describe, expect, it } from 'vitest';
import { endedWell } from '../../src/server/serve-host.js';
import { isResult, type WireOptions, wire } from './host.js';

/** Less than the real limit, so that little is enough to go over it. */
const FRAME_LIMIT = 30_000;
const LONG = `${'harmless\n'.repeat(4_000)}FORBIDDEN\n`;
const write = (content: string) => ({ tool: 'Write', input: { file_path: 'a.txt', content } });
const guards = (onFailure?: string) => ({
  subtype: 'initialize',
  hooks: { PreToolUse: [{ hookCallbackIds: ['g'], ...(onFailure ? { onFailure } : {}) }] },
});
const limited = (options: WireOptions): Promise<Awaited<ReturnType<typeof wire>>> =>
  wire({ ...options, serving: { frameLimit: FRAME_LIMIT, ...options.serving } });
const lengthOf = (frame: unknown): number => JSON.stringify(frame).length;

describe('what is too long to be shown whole to the host', () => {
  it.each([undefined, 'continue'])(
    'is refused by its guards (onFailure: %s)',
    async (onFailure) => {
      const seen: unknown[] = [];
      const host = await limited({
        script: [write(LONG), write('short'), 'done'],
        config: { permissionMode: 'acceptEdits' },
        answer: (request) => {
          seen.push(request);
          return {};
        },
      });
      await host.request(guards(onFailure));
      host.prompt('go');
      await host.next(isResult);
      expect(seen).toMatchObject([{ input: { tool_input: { content: 'short' } } }]);
      expect(host.project.read('a.txt')).toBe('short');
      const told = JSON.stringify(host.model.requests[1]?.body);
      expect(told).toContain('cannot be shown all of it');
      expect(Math.max(...host.frames.filter(isControl).map(lengthOf))).toBeLessThan(FRAME_LIMIT);
    },
  );

  it('is asked of nobody, and so is not allowed', async () => {
    const asked: unknown[] = [];
    const host = await limited({
      script: [write(LONG), 'done'],
      asksHost: true,
      answer: (request) => {
        asked.push(request);
        return { behavior: 'allow', updatedInput: request.input };
      },
    });
    host.prompt('go');
    const result = await host.next(isResult);
    expect(asked).toEqual([]);
    expect(host.project.exists('a.txt')).toBe(false);
    expect(result.permission_denials).toMatchObject([{ tool_name: 'Write' }]);
    expect(JSON.stringify(host.model.requests[1]?.body)).toContain('Nobody could be asked');
  });

  it.each([
    ['one long text', { text: LONG }],
    ['many short ones', { items: Array.from({ length: 8_000 }, (_, at) => `x${at}`) }],
  ])('is no call of a server in the host: %s', async (_name, input) => {
    const called: unknown[] = [];
    const host = await limited({
      script: [{ tool: 'mcp__s__t', input }, 'done'],
      config: { allowedTools: ['mcp__s__t'] },
      answer: (request) => answerAsServer(request, () => called.push(request)),
    });
    await host.request({ subtype: 'initialize', sdkMcpServers: ['s'] });
    host.prompt('go');
    await host.next(isResult);
    expect(called).toEqual([]);
    expect(JSON.stringify(host.model.requests[1]?.body)).toMatch(/"is_error":true/);
  });

  it('is shown to a host that takes frames of any length', async () => {
    const seen: unknown[] = [];
    const host = await wire({
      script: [write(LONG), 'done'],
      config: { permissionMode: 'acceptEdits' },
      answer: ({ input }) => {
        seen.push(input);
        return {};
      },
    });
    await host.request(guards());
    host.prompt('go');
    await host.next(isResult);
    expect(seen).toMatchObject([{ tool_input: { content: LONG } }]);
    expect(host.project.read('a.txt')).toBe(LONG);
  });

  it('is an error in the place of an answer, under the same id', async () => {
    const host = await wire({ serving: { frameLimit: 500 } });
    expect(await host.request({ subtype: 'list_models' })).toMatchObject({
      subtype: 'error',
      error_code: 'too_long',
    });
  });

  it('is no structured answer', async () => {
    const host = await limited({
      script: [{ tool: 'StructuredOutput', input: { text: LONG } }],
      config: { jsonSchema: { type: 'object', properties: { text: { type: 'string' } } } },
    });
    host.prompt('go');
    const result = await host.next(isResult);
    expect(result).toMatchObject({
      is_error: true,
      errors: [expect.stringContaining('No structured answer')],
    });
    expect(result).not.toHaveProperty('structured_output');
    host.end();
    expect(endedWell(await host.served)).toBe(false);
  });
});

describe('the copy of a transcript', () => {
  it('cuts raw outputs of tools alone, and says so', async () => {
    const host = await limited({
      script: [{ tool: 'Read', input: { file_path: 'b.txt' } }, 'done'],
      files: { 'b.txt': 'line\n'.repeat(3_000) },
      config: { mirror: true },
    });
    host.prompt('go');
    await host.next(isResult);
    const entries = mirrored(host.frames);
    const cut = entries.filter(({ toolUseResultTruncated }) => toolUseResultTruncated === true);
    expect(cut).toHaveLength(1);
    expect(lengthOf(cut[0]?.toolUseResult)).toBeLessThan(5_000);
    expect(JSON.stringify(cut[0]?.message)).not.toContain('more characters');
    expect(host.frames.some(({ subtype }) => subtype === 'mirror_error')).toBe(false);
  });

  it('lacks what cannot be told, and that is told', async () => {
    const host = await limited({ script: [write(LONG), 'done'], config: { mirror: true } });
    host.prompt('go');
    await host.next(isResult);
    expect(JSON.stringify(mirrored(host.frames))).not.toContain('more characters');
    expect(host.frames.filter(({ subtype }) => subtype === 'mirror_error')).toMatchObject([
      { error: expect.stringContaining('missing from the copy') },
    ]);
  });
});

type Line = Readonly<Record<string, unknown>>;

function mirrored(frames: readonly Line[]): readonly Line[] {
  const copies = frames.filter(({ type }) => type === 'transcript_mirror');
  expect(Math.max(...copies.map(lengthOf))).toBeLessThan(FRAME_LIMIT);
  return copies.flatMap(({ entries }) => entries as Line[]);
}

function isControl({ type }: Line): boolean {
  return type === 'control_request';
}

function answerAsServer(request: Line, onCall: () => void): unknown {
  const { id, method } = request.message as { id?: number; method: string };
  if (method === 'tools/call') onCall();
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    },
    'tools/list': { tools: [{ name: 't', inputSchema: { type: 'object' } }] },
  };
  const result = results[method] ?? { content: [{ type: 'text', text: 'called' }] };
  return { mcp_response: { jsonrpc: '2.0', id: id ?? 0, result } };
}
