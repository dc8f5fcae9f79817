import { describe, expect, it } from 'vitest';
import { err, ok } from '../../src/lib/result.js';
import { openToolApprovals } from '../../src/mcp/approval/tool-approvals.js';
import type {
  ListKind,
  McpConnection,
  McpEntry,
  RawTool,
  SafeError,
} from '../../src/mcp/server.js';
import { listingOf } from '../../src/mcp/tools/listing.js';
import { createToolBook } from '../../src/mcp/tools/registry.js';
import type { Finding } from '../../src/permissions/gate/guard.js';
import { nodeFileSystem as fs } from '../../src/platform/fs/node-fs.js';
import type { AnyTool, ToolContext } from '../../src/tools/tool.js';
import { temporaryDirectory } from '../process/helpers.js';
import { declared, nodeEntry } from './connection-rig.js';

const good: RawTool = { name: 't', description: 'good', inputSchema: { type: 'object' } };
const evil: RawTool = { ...good, description: 'evil' };

/** A server that is a list of tools. */
function fakeServer(tools: readonly RawTool[], entry: McpEntry = nodeEntry([])) {
  const listeners: ((change: ListKind | 'state') => void)[] = [];
  const server = {
    tools,
    failure: undefined as SafeError | undefined,
    lists: 0,
    saysToolsChanged: () => {
      for (const listener of listeners) listener('tools');
    },
  };
  const declaration = declared(entry);
  const status = () => ({ name: 'srv', scope: 'user', transport: 'stdio', state: 'connected' });
  const connection = {
    declaration,
    status,
    listTools: async () => {
      server.lists += 1;
      return server.failure === undefined ? ok(server.tools) : err(server.failure);
    },
    call: async () => ok({ content: [{ type: 'text', text: 'did it' }] }),
    onChange: (listener: (change: ListKind | 'state') => void) => void listeners.push(listener),
  } as unknown as McpConnection;
  return { server, connection };
}

/** A session with this one server; `cached`: what is remembered of it, when it has not been asked. */
function session(
  fake: ReturnType<typeof fakeServer>,
  { directory, cached }: { directory: string; cached?: readonly RawTool[] },
) {
  const heard: (readonly string[])[] = [];
  const book = createToolBook({
    fs,
    approvals: openToolApprovals({ fs, stateDirectory: directory }),
    env: {},
    tell: () => undefined,
    onListing: (_connection, _listing, { changed }) => void heard.push(changed),
  });
  const { connection, server } = fake;
  const { declaration } = connection;
  const tools = cached ?? server.tools;
  const listing = listingOf({ declaration, tools });
  const { tools: made } = book.offer(connection, listing, { live: cached === undefined });
  const tool = made[0] as AnyTool;
  let count = 0;
  /** The guard's finding, and what the call says when nothing holds it back, or a person says yes. */
  const call = async ({ saysYes = false } = {}): Promise<Finding & { readonly text?: string }> => {
    const toolUseId = `call-${++count}`;
    const view = { call: { tool, toolUseId } } as never;
    const finding = await book.extension.guards[0]?.decide(view);
    if (finding === undefined) throw new Error('there is no guard');
    if (finding.decision !== 'none' && !saysYes) return finding;
    const signal = new AbortController().signal;
    const context = { toolUseId, signal, progress: () => undefined } as unknown as ToolContext;
    const output = await tool.run({}, context, undefined as never);
    return { ...finding, text: JSON.stringify(output.content) };
  };
  return { book, call, heard };
}

/** The tool was used in an earlier session, as it is when it is good. */
async function afterUse(): Promise<string> {
  const directory = temporaryDirectory();
  const { book, call } = session(fakeServer([good]), { directory });
  expect((await call()).text).toContain('did it');
  await book.close();
  return directory;
}

describe('a definition that changes in the session in which it was approved', () => {
  it.each<McpEntry>([nodeEntry([]), { type: 'sdk' }])(
    'is told with what it was before: %j',
    async (entry) => {
      const fake = fakeServer([good], entry);
      const { call, book } = session(fake, { directory: temporaryDirectory() });
      expect((await call()).text).toContain('did it');
      fake.server.tools = [evil];
      fake.server.saysToolsChanged();
      expect((await call()).text).toContain('in another way');
      const refused = await call();
      expect(refused.decision).toBe('ask');
      expect(refused.reason).toContain('- "description": "good" ⏎ + "description": "evil"');
      expect(refused.reasonForModel).not.toContain('evil');
      await book.close();
    },
  );

  it('is told against the last one that was approved', async () => {
    const directory = await afterUse();
    const fake = fakeServer([evil]);
    const { call, book } = session(fake, { directory });
    expect((await call()).reason).toContain('- "description": "good"');
    expect((await call({ saysYes: true })).text).toContain('did it');
    fake.server.tools = [{ ...good, description: 'worse' }];
    fake.server.saysToolsChanged();
    await call();
    expect((await call()).reason).toContain('- "description": "evil" ⏎ + "description": "worse"');
    await book.close();
  });
});

describe('a changed definition that only a cache knows of', () => {
  it('is asked for anew, and good when the server has taken it back', async () => {
    const directory = await afterUse();
    const fake = fakeServer([good]);
    const { call, heard } = session(fake, { directory, cached: [evil] });
    expect(await Promise.all([call(), call()])).toMatchObject([
      { decision: 'none' },
      { decision: 'none' },
    ]);
    expect(fake.server.lists).toBe(1);
    expect(heard).toEqual([[]]);
  });

  it('is judged by what the server says then', async () => {
    const directory = await afterUse();
    const fake = fakeServer([{ ...good, description: 'worse' }]);
    const { call } = session(fake, { directory, cached: [evil] });
    const refused = await call();
    expect(refused.decision).toBe('ask');
    expect(refused.reason).toContain('+ "description": "worse"');
    expect(refused.reason).not.toContain('evil');
    expect((await call()).decision).toBe('ask');
    expect(fake.server.lists).toBe(1);
  });

  it('is refused when the server cannot be asked, or no longer offers the tool', async () => {
    const directory = await afterUse();
    const fake = fakeServer([good]);
    fake.server.failure = { code: 'connect-timeout', message: 'srv is silent.', mayHaveRun: false };
    const { call } = session(fake, { directory, cached: [evil] });
    expect(await call()).toMatchObject({ decision: 'deny', refusal: 'approval' });
    expect((await call()).reason).toContain(
      'cannot be asked whether it still is so: srv is silent.',
    );
    fake.server.failure = undefined;
    fake.server.tools = [];
    expect(await call()).toMatchObject({ decision: 'deny', reason: expect.stringMatching('"t"') });
  });

  it('is not asked for once the server is turned off', async () => {
    const directory = await afterUse();
    const fake = fakeServer([good]);
    const { call, book } = session(fake, { directory, cached: [evil] });
    book.leave('srv', 'it was turned off');
    expect(await call()).toMatchObject({ decision: 'deny', reason: 'it was turned off' });
    expect(fake.server.lists).toBe(0);
  });
});
