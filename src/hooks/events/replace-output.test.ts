import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bash,
  type Finished,
  finished,
  idleTool,
  mcp,
  OUTPUT,
  unused,
} from '../../../test/support/finished-call.js';
import { type ScriptedHook, scriptedHooks } from '../../../test/support/scripted-hooks.js';
import type { ToolOutput } from '../../tools/tool.js';
import { createPostToolHooks, LARGEST_REPLACEMENT } from './post-tool-use.js';

/** What these PostToolUse hooks make of a call. */
function run(hooks: readonly ScriptedHook[], call: Finished = {}) {
  const { dispatch } = scriptedHooks({ PostToolUse: hooks });
  return createPostToolHooks(dispatch).after(finished(call));
}

const replaces = (updatedToolOutput: unknown, label = 'mask'): ScriptedHook => ({
  label,
  fields: { updatedToolOutput },
});

describe('an output in place of the tool’s own', () => {
  it('can be a text, for every tool', async () => {
    const done = await run([{ ...replaces('***'), context: 'masked' }]);
    expect(done).toEqual({
      output: { content: '***', structured: '***' },
      contexts: ['PostToolUse:Bash hook additional context: masked'],
    });
  });

  it('can have the shape of the tool’s own, and is shown as the tool would', async () => {
    const value = { stdout: 'masked\n\n', stderr: 'warn', interrupted: false, extra: 1 };
    expect((await run([replaces(value)])).output).toEqual({
      content: 'masked\nwarn',
      structured: value,
    });
    const empty = { stdout: '', stderr: '', interrupted: false };
    expect((await run([replaces(empty)])).output.content).toBe('(no output)');
  });

  it('is shown as JSON when it has another shape', async () => {
    const { output } = await run([replaces({ rows: 3 })]);
    expect(output).toEqual({ content: '{"rows":3}', structured: { rows: 3 } });
    expect((await run([replaces({ stdout: 5 })])).output.content).toBe('{"stdout":5}');
    expect((await run([replaces([])])).output.content).toBe('[]');
  });

  it('can be a list of content blocks, of which only known fields go on', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'AA==' };
    const blocks = [
      { type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } },
      { type: 'image', source },
    ];
    const { output } = await run([replaces(blocks)], { tool: mcp });
    expect(output.content).toEqual([
      { type: 'text', text: 'hi' },
      { type: 'image', source },
    ]);
    expect(output.structured).toEqual(blocks);
    const odd = [{ type: 'text', text: 'hi' }, { type: 'video' }];
    expect((await run([replaces(odd)], { tool: mcp })).output.content).toBe(JSON.stringify(odd));
  });

  it('keeps the error of a failed call an error', async () => {
    const { dispatch } = scriptedHooks({ PostToolUseFailure: [replaces('***')] });
    const output = { content: 'SECRET', isError: true, structured: { stdout: 'SECRET' } };
    const done = await createPostToolHooks(dispatch).after(finished({ output }));
    expect(done.output).toEqual({ content: '***', structured: '***', isError: true });
  });

  it('leaves pictures alone unless they are replaced', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'AA==' } as const;
    const output: ToolOutput = { content: [{ type: 'image', source }], structured: { type: 'i' } };
    expect((await run([{ context: 'c' }], { output })).output).toBe(output);
    expect((await run([replaces('gone')], { output })).output.content).toBe('gone');
  });

  it('is no replacement when it is what the hook was shown, whatever the order of keys', async () => {
    const same = replaces({ interrupted: false, stderr: '', stdout: 'SECRET' }, 'echo');
    expect((await run([same])).output).toBe(OUTPUT);
    expect((await run([same, replaces('***')])).output.content).toBe('***');
  });

  it('is the field for all tools before the one for MCP tools', async () => {
    const both = { fields: { updatedToolOutput: 'all', updatedMCPToolOutput: 'mcp' } };
    expect((await run([both], { tool: mcp })).output.content).toBe('all');
    expect((await run([both])).output.content).toBe('all');
    const only = { fields: { updatedMCPToolOutput: [{ type: 'text', text: 'mcp' }] } };
    expect((await run([only], { tool: mcp })).output.content).toEqual([
      { type: 'text', text: 'mcp' },
    ]);
    const elsewhere = (await run([only])).output;
    expect(elsewhere.isError).toBe(true);
    expect(elsewhere.content).toContain('updatedMCPToolOutput is for MCP tools');
  });

  it('may be wanted by two hooks, as long as they agree', async () => {
    const agreed = await run([replaces({ a: 1, b: 2 }, 'A'), replaces({ b: 2, a: 1 }, 'B')]);
    expect(agreed.output.structured).toEqual({ a: 1, b: 2 });
    const differ = await run([replaces('x', 'A'), replaces('y', 'B'), { context: 'SECRET!' }]);
    expect(differ.output.content).toBe(
      'Bash was run, and its output is withheld: two hooks want different outputs: A and B. Do not run it again to see it; tell the user.',
    );
    expect(differ.contexts).toEqual([]);
  });
});

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;
const thrower = {
  toJSON() {
    throw new Error('SECRET');
  },
};
let deep: unknown = 'x';
for (let level = 0; level < 600; level++) deep = [deep];

const USELESS: readonly (readonly [string, unknown])[] = [
  ['a number', 5],
  ['null', null],
  ['true', true],
  ['a function', () => 'x'],
  ['a loop', cyclic],
  ['a big integer', { n: 1n }],
  ['what throws when written', thrower],
  ['what becomes a number', { toJSON: () => 5 }],
  ['what becomes nothing', { toJSON: () => undefined }],
  ['endless nesting', deep],
  ['a prototype', JSON.parse('{"__proto__":{"a":1}}')],
  ['too much', 'x'.repeat(LARGEST_REPLACEMENT + 1)],
  ['too many words in blocks', [{ type: 'text', text: 'x'.repeat(500_000) }]],
];

describe('an output is withheld', () => {
  it.each(USELESS)('when what stands in its place is of no use: %s', async (_name, value) => {
    const done = await run([replaces(value)]);
    expect(done.output.isError).toBe(true);
    expect(done.output.content).toContain('its output is withheld: the output that mask gave');
    expect(JSON.stringify(done)).not.toContain('SECRET');
  });

  it('when its tool stumbles over the replacement', async () => {
    const odd = idleTool('Odd', { present: unused });
    const done = await run([replaces({ a: 1 })], { tool: odd });
    expect(done.output.content).toContain('it could not be applied');
    expect(JSON.stringify(done)).not.toContain('SECRET');
  });

  it('when one of two replacements is of no use', async () => {
    const done = await run([replaces('fine', 'A'), replaces(7, 'B')]);
    expect(done.output.content).toContain('the output that B gave');
    expect(JSON.stringify(done)).not.toContain('fine');
  });

  it('when a hook that must not fail fails, and only the cause is told', async () => {
    const failure = { cause: 'broken-output', message: 'it printed SECRET' } as const;
    const done = await run([{ label: 'mask', failure, refuses: true }, { context: 'SECRET' }]);
    expect(done.output.content).toContain(
      'guard failed: mask gave no verdict (broken-output, after 5 ms)',
    );
    expect(done.output.isError).toBe(true);
    expect(JSON.stringify(done)).not.toContain('SECRET');
  });
});

describe('an answer that ends the run', () => {
  const output: ToolOutput = {
    content: 'The answer was accepted.',
    structured: { name: 'SECRET' },
    finish: { structuredOutput: { name: 'SECRET' } },
  };
  const answering = idleTool('StructuredOutput', {
    present: (value) =>
      typeof value === 'object' && value !== null && 'name' in value ? 'accepted' : undefined,
  });

  it('still ends it when hooks only speak', async () => {
    const done = await run([{ context: 'c' }], { output, tool: answering });
    expect(done.output.finish).toEqual({ structuredOutput: { name: 'SECRET' } });
  });

  it('is given as the hook wants it, where that is an answer the tool could have given', async () => {
    const done = await run([replaces({ name: '***' })], { output, tool: answering });
    expect(done.output).toEqual({
      content: 'accepted',
      structured: { name: '***' },
      finish: { structuredOutput: { name: '***' } },
    });
  });

  it('ends the run without being given when it is withheld', async () => {
    for (const called of [answering, idleTool('StructuredOutput')]) {
      const done = await run([replaces('***')], { output, tool: called });
      expect(done.output.finish).toBeUndefined();
      expect(done.stop).toContain('the answer is withheld');
      expect(JSON.stringify(done)).not.toContain('SECRET');
    }
  });
});

describe('property: what a hook replaces or must look at does not go out', () => {
  const original = fc.stringMatching(/^[a-z]{6,12}$/).map((text) => `ORIGINAL-${text}`);
  const value = fc.oneof(
    fc.constantFrom<unknown>(...USELESS.slice(0, -2).map(([, useless]) => useless)),
    fc.jsonValue(),
    fc.record({ stdout: fc.string(), stderr: fc.string(), interrupted: fc.boolean() }),
    fc.array(fc.record({ type: fc.constant('text'), text: fc.string() })),
  );
  const replacing = fc
    .tuple(fc.constantFrom('updatedToolOutput', 'updatedMCPToolOutput'), value)
    .filter(([, wanted]) => wanted !== undefined)
    .map(([field, wanted]): ScriptedHook => ({ fields: { [field]: wanted } }));
  const failing = fc.constant<ScriptedHook>({
    failure: { cause: 'threw', message: 'ORIGINAL' },
    refuses: true,
  });
  const hiding = fc.oneof(replacing, failing);
  const others = fc.array(
    fc.oneof(fc.constant<ScriptedHook>({}), fc.constant<ScriptedHook>({ context: 'c' }), hiding),
  );

  it('whatever the tool, the output and the other hooks', async () => {
    await fc.assert(
      fc.asyncProperty(
        original,
        hiding,
        others,
        fc.constantFrom(bash, mcp, idleTool('Read')),
        fc.boolean(),
        fc.boolean(),
        async (text, hides, more, called, isError, ends) => {
          const output: ToolOutput = {
            content: [{ type: 'text', text }],
            structured: { stdout: text, nested: [text] },
            ...(isError ? { isError } : {}),
            ...(ends ? { finish: { structuredOutput: text } } : {}),
          };
          const hooks = [...more, hides];
          const { dispatch } = scriptedHooks({ PostToolUse: hooks, PostToolUseFailure: hooks });
          const done = await createPostToolHooks(dispatch).after(
            finished({ output, tool: called }),
          );
          expect(JSON.stringify(done)).not.toContain('ORIGINAL');
        },
      ),
      { numRuns: 500 },
    );
  });
});
