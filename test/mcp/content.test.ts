import { describe, expect, it } from 'vitest';
import { err } from '../../src/lib/result.js';
import { createElicit } from '../../src/mcp/resources/elicitation.js';
import { findMentions, resolveMentions } from '../../src/mcp/resources/mentions.js';
import { createMcpPrompts, readTypedPrompt } from '../../src/mcp/resources/prompts.js';
import { offersResources, resourceTools } from '../../src/mcp/resources/resources.js';
import { nodeFileSystem } from '../../src/platform/fs/node-fs.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import type { AskElicitation, ElicitReply } from '../../src/protocol/elicitation.js';
import { FormDialog } from '../../src/tui/dialogs/form-dialog.js';
import { plainText } from '../../src/tui/screen/line.js';
import { callTool } from '../support/permitted-call.js';
import { call, connectTo, never, publicServer, text } from './connection-rig.js';

/** The everything server, whose questions go to `ask`. */
function everything(ask?: AskElicitation) {
  const notes: string[] = [];
  const elicit = createElicit({
    scene: () => undefined as never,
    ...(ask === undefined ? {} : { ask }),
    onNote: (note) => notes.push(note),
    clock: { monotonic: () => performance.now() },
  });
  return { connection: connectTo(publicServer('server-everything'), { elicit }), notes };
}

const FORM = 'trigger-elicitation-request';

describe('the content of a real server', () => {
  it('is listed and read through the tools, and by mention', async () => {
    const { connection } = everything();
    expect(await offersResources([connection])).toBe(true);
    const tools = resourceTools({ connections: () => [connection], fs: nodeFileSystem });
    const listed = (await callTool(tools.list, {})).structured as { uri: string }[];
    const uri = listed[0]?.uri ?? '';
    expect(listed[0]).toMatchObject({ server: 'srv', uri: expect.stringContaining('://') });
    const read = await callTool(tools.read, { server: 'srv', uri });
    expect(read.structured).toMatchObject({ contents: [{ uri, text: expect.any(String) }] });
    const mentions = findMentions(`what is in @srv:${uri}?`, ['srv']);
    const save = async () => '';
    const blocks = await resolveMentions(mentions, {
      connections: [connection],
      save,
      async read(mention) {
        const answer = await connection.readResource(mention.uri, never);
        return answer.ok ? answer : err(answer.error.message);
      },
    });
    expect(blocks).toMatchObject([{ text: expect.stringContaining('<mcp-resource server="srv"') }]);
    expect(blocks[0]?.failure).toBeUndefined();
    const nowhere = await callTool(tools.read, { server: 'srv', uri: 'x://nowhere' });
    expect(nowhere).toMatchObject({ isError: true });
  });

  it('has prompts that a person types', async () => {
    const { connection } = everything();
    const prompts = createMcpPrompts({ connections: () => [connection] });
    const names = (await prompts.list()).map(({ name }) => name);
    expect(names).toContain('mcp__srv__args-prompt');
    const typed = readTypedPrompt('/mcp__srv__args-prompt "New York" NY');
    if (typed === undefined) throw new Error('not read');
    const expanded = await prompts.expand(typed, never);
    expect(expanded.ok && JSON.stringify(expanded.value)).toContain('New York, NY');
    const missing = await prompts.expand({ ...typed, args: '' }, never);
    expect(missing).toMatchObject({ ok: false, error: expect.stringContaining('needs city') });
  });
});

describe('the questions of a real server', () => {
  it('are declined at once when nobody is there', async () => {
    const { connection, notes } = everything();
    expect(text(await call(connection, FORM))).toContain('declined');
    expect(notes).toEqual([expect.stringContaining('no person is there to answer')]);
  });

  it('are answered at the terminal, field by field', async () => {
    let shown = '';
    const facts = { id: 'q', agent: MAIN_AGENT, reason: '', askedAt: '', kind: 'form' } as const;
    // The person gives a name, takes every default, and agrees at the end.
    const { connection } = everything(async (question) => {
      const dialog = new FormDialog({ ...question, ...facts } as ConstructorParameters<
        typeof FormDialog
      >[0]);
      for (;;) {
        const { title, body, notes, options } = dialog.describe(80);
        const step = [title, ...[...body, ...notes].map(plainText)].join('\n');
        shown += `${step}\n`;
        const line = options.length > 0 ? 'y' : step.includes('(name)') ? 'Ada' : '';
        const answer = dialog.take(line);
        if (answer !== undefined) return answer as ElicitReply;
      }
    });
    const answer = text(await call(connection, FORM));
    expect(shown).toContain('The MCP server "srv" asks for input');
    expect(shown).toContain('1  Superman (hero-1)');
    for (const part of ['Ada', '42', 'hero-1', 'fish-1', 'Guitar']) expect(answer).toContain(part);
  });

  it('get no answer that does not fit their form', async () => {
    const { connection, notes } = everything(async () => ({
      action: 'accept',
      content: { name: 'Ada', integer: 1000 },
    }));
    expect(text(await call(connection, FORM))).toContain('declined');
    expect(notes).toEqual([expect.stringContaining('"integer" is more than 100')]);
  });
});
