// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings are templates of hooks
import { describe, expect, it } from 'vitest';
import { hookOf, requestOf } from '../../../test/hooks/runner-rig.js';
import { err, ok } from '../../lib/result.js';
import type { McpToolHandler } from '../registry/hook.js';
import { createMcpRunner, type McpAnswer, type McpRunnerDeps } from './mcp.js';

const handler: McpToolHandler = { type: 'mcp_tool', server: 'scan', tool: 'check' };

function answering(answer: Partial<McpAnswer>) {
  const run = createMcpRunner({ call: async () => ok({ text: '', isError: false, ...answer }) });
  return run(hookOf(handler), requestOf());
}

/** What the tool is called with for this input of the handler. */
async function called(input: Record<string, unknown>, asked: Record<string, unknown>) {
  let seen: unknown;
  const call: McpRunnerDeps['call'] = async (server, tool, given) => {
    seen = [server, tool, given];
    return ok({ text: '', isError: false });
  };
  const raw = await createMcpRunner({ call })(
    hookOf({ ...handler, input }),
    requestOf({ input: asked }),
  );
  return { raw, seen };
}

describe('an MCP hook', () => {
  it('gives the text of the tool, or its object where it has one', async () => {
    expect(await answering({ text: 'fine' })).toEqual({ kind: 'text', text: 'fine' });
    expect(await answering({ text: '{}', structured: { a: 1 } })).toEqual({
      kind: 'value',
      value: { a: 1 },
    });
    expect(await answering({ text: 'fine', structured: [1] })).toEqual({
      kind: 'text',
      text: 'fine',
    });
  });

  it('gives the one of both in which a verdict stands', async () => {
    const no = '{"decision":"block"}';
    const asText = { kind: 'text', text: no };
    expect(await answering({ text: no, structured: { result: no } })).toEqual(asText);
    expect(await answering({ text: no, structured: {} })).toEqual(asText);
    expect(await answering({ text: no, structured: { decision: 'approve' } })).toEqual(asText);
    const structured = { decision: 'block' };
    const asValue = { kind: 'value', value: structured };
    expect(await answering({ text: '{"decision":"approve"}', structured })).toEqual(asValue);
    expect(await answering({ structured: [structured] })).toMatchObject({ kind: 'value' });
  });

  it('fails without servers, without this server, and when the tool fails or breaks', async () => {
    const run = (deps: McpRunnerDeps) => createMcpRunner(deps)(hookOf(handler), requestOf());
    const unavailable = { kind: 'failed', failure: { cause: 'unavailable' } };
    expect(await run({})).toMatchObject(unavailable);
    expect(await run({ call: async () => err('not connected') })).toMatchObject(unavailable);
    expect(await run({ call: () => Promise.reject(new Error('lost')) })).toMatchObject(unavailable);
    expect(await answering({ text: 'boom', isError: true })).toMatchObject({
      failure: { cause: 'unavailable', message: 'check of "scan" failed: boom' },
    });
  });

  it('gives the tool a limited time', async () => {
    const run = createMcpRunner({ call: () => new Promise(() => {}) });
    expect(await run(hookOf(handler), requestOf({ timeoutMs: 20 }))).toMatchObject({
      failure: { cause: 'timeout' },
    });
  });

  it('fills the input with fields of its own', async () => {
    const asked = {
      tool_input: { file_path: '/a b', edits: [{ old: 'x' }], n: 3, none: null },
      cwd: '/p',
    };
    const { seen } = await called(
      {
        path: 'at ${tool_input.file_path}!',
        all: '${tool_input.edits}',
        deep: { list: ['${tool_input.edits.0.old}', '${ cwd }', 7, true, null] },
        n: '${tool_input.n}${tool_input.none}',
        missing: '<${tool_input.nope.deeper}${}>',
        plain: '$cwd {cwd} ${a{b}',
      },
      asked,
    );
    expect(seen).toEqual([
      'scan',
      'check',
      {
        path: 'at /a b!',
        all: '[{"old":"x"}]',
        deep: { list: ['x', '/p', 7, true, null] },
        n: '3null',
        missing: '<>',
        plain: '$cwd {cwd} ${a{b}',
      },
    ]);
  });

  it('does not fill in what is no field, nor fill in twice', async () => {
    const { seen } = await called(
      { a: '<${constructor.name}${__proto__}${list.length}${text.length}>', b: '${text}' },
      { list: [1], text: '${list}' },
    );
    expect(seen).toEqual(['scan', 'check', { a: '<>', b: '${list}' }]);
  });

  it('bounds how deep it looks', async () => {
    const path = Array.from({ length: 40 }, () => 'a').join('.');
    let asked: Record<string, unknown> = { a: 'end' };
    for (let depth = 1; depth < 40; depth++) asked = { a: asked };
    expect((await called({ x: `\${${path}}` }, asked)).seen).toEqual(['scan', 'check', { x: '' }]);
    const { raw, seen } = await called(asked, {});
    expect(seen).toBeUndefined();
    expect(raw).toMatchObject({ failure: { cause: 'unavailable' } });
  });
});
