import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { PERMISSION_MODES, type PermissionUpdate } from '../../protocol/permissions.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'a.txt': 'a', 'secret/key': 'k' } });
});
afterAll(() => project.remove());

/** In front of a simple command. */
const prefix = fc.constantFrom(
  '',
  'X=1 ',
  'timeout 5 ',
  'sudo ',
  'env A=b ',
  'nice -n 3 ',
  '! ',
  'time ',
);

/** Around a whole list. */
const around = fc.constantFrom<(code: string) => string>(
  (code) => `true && ${code}`,
  (code) => `ls; ${code}`,
  (code) => `( ${code} )`,
  (code) => `{ ${code}\n}`,
  (code) => `if true; then ${code}\nfi`,
  (code) => `echo $( ${code} )`,
  (code) => `{ ${code}\n} &`,
  (code) => `cat <( ${code} )`,
  (code) => `echo "$((1))"; ${code}`,
  (code) => `f() { ${code}\n}; f`,
  (code) => `for i in 1 2; do ${code}\ndone`,
  (code) => `ls\n${code}`,
);

const command = fc
  .tuple(
    fc.constantFrom('rm x', 'r\\m x', '"rm" x', '/bin/rm x', 'rm "$X"', 'cat secret/key'),
    prefix,
    fc.array(around, { maxLength: 3 }),
  )
  .map(([inner, before, wraps]) => wraps.reduce((code, wrap) => wrap(code), before + inner));

type Call = readonly [string, Readonly<Record<string, unknown>>];

const call: fc.Arbitrary<Call> = fc.oneof(
  command.map((text): Call => ['Bash', { command: text }]),
  fc.constantFrom<Call>(
    ['Read', { file_path: 'secret/key' }],
    ['Write', { file_path: './secret/../secret/new' }],
    ['Edit', { file_path: 'SECRET/key' }],
    ['WebFetch', { url: 'https://bad.example/' }],
    ['mcp__srv__do', {}],
  ),
);

const allow = fc.subarray([
  'Bash',
  'Bash(*)',
  'Bash(rm:*)',
  'Bash(rm x)',
  'Read',
  'Edit',
  'Write',
  'Read(./secret/**)',
  'Edit(./secret/**)',
  'WebFetch',
  'WebFetch(domain:*)',
  'mcp__srv',
]);

const DENY = ['Bash(rm *)', 'Read(./secret/**)', 'WebFetch(domain:bad.example)', 'mcp__srv__do'];

describe('a deny rule', () => {
  it('holds in every mode, whatever is allowed and whatever is answered', async () => {
    await fc.assert(
      fc.asyncProperty(
        call,
        fc.constantFrom(...PERMISSION_MODES),
        allow,
        fc.option(call, { nil: undefined }),
        async ([tool, input], mode, allowed, rewrite) => {
          let asks = 0;
          const gate = gateRig({
            cwd: project.directory,
            home: project.home,
            mode,
            allow: allowed,
            deny: DENY,
            asker: async () => {
              asks++;
              return rewrite === undefined || rewrite[0] !== tool
                ? { behavior: 'allow' }
                : { behavior: 'allow', updatedInput: rewrite[1] };
            },
          });
          const verdict = await gate.call(tool, input);
          expect(verdict.kind).toBe('refused');
          expect(asks).toBe(0);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('holds for input that an answer brings', async () => {
    await fc.assert(
      fc.asyncProperty(call, allow, async ([tool, denied], allowed) => {
        const harmless: Record<string, unknown> =
          tool === 'Bash'
            ? { command: 'npm test' }
            : tool === 'WebFetch'
              ? { url: 'https://ok.example' }
              : { file_path: '/tmp/other' };
        if (tool === 'mcp__srv__do') return;
        const gate = gateRig({
          cwd: project.directory,
          home: project.home,
          ask: [tool],
          allow: allowed,
          deny: DENY,
          asker: async () => ({ behavior: 'allow', updatedInput: denied }),
        });
        expect((await gate.call(tool, harmless)).kind).toBe('refused');
      }),
      { numRuns: 200 },
    );
  });

  it('holds after whatever was answered before, for every agent', async () => {
    const scope = fc.record({
      what: fc.constantFrom('call', 'exact', 'prefix', 'tool' as const),
      until: fc.constantFrom('once', 'turn', 'session' as const),
    });
    const update = fc.constantFrom<PermissionUpdate>(
      {
        type: 'addRules',
        rules: [{ toolName: 'Bash' }],
        behavior: 'allow',
        destination: 'session',
      },
      {
        type: 'replaceRules',
        rules: [{ toolName: 'Bash', ruleContent: 'rm:*' }],
        behavior: 'allow',
        destination: 'session',
      },
      {
        type: 'removeRules',
        rules: DENY.map((text) => ({ toolName: text })),
        behavior: 'deny',
        destination: 'session',
      },
      { type: 'replaceRules', rules: [], behavior: 'deny', destination: 'session' },
    );
    const before = fc.array(fc.tuple(call, scope, fc.array(update, { maxLength: 2 })), {
      maxLength: 4,
    });
    const agents = fc.constantFrom('main', 'main/reviewer#1', 'main/planner#2/reviewer#1');
    await fc.assert(
      fc.asyncProperty(before, call, agents, allow, async (earlier, denied, path, allowed) => {
        const pending = [...earlier];
        const type = path.split('/').at(-1)?.replace(/#\d+$/, '') ?? path;
        const gate = gateRig({
          cwd: project.directory,
          home: project.home,
          allow: allowed,
          deny: DENY,
          agents: { '**': { allow: ['Bash', 'Read', 'Edit'] }, reviewer: { allow: allowed } },
          agent: { id: path, type, path, depth: path.split('/').length - 1, background: false },
          answers: { configDir: project.home },
          asker: async () => {
            const [, given, updatedPermissions] = pending.shift() ?? [];
            return {
              behavior: 'allow',
              scope: given,
              updatedPermissions,
            };
          },
        });
        for (const [tool] of [...earlier].map(([one]) => one)) {
          await gate.call(tool, tool === 'Bash' ? { command: 'touch y' } : { file_path: 'b.txt' });
        }
        expect((await gate.call(...denied)).kind).toBe('refused');
      }),
      { numRuns: 300 },
    );
  });
});
