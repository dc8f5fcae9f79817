import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig, standIn } from '../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { SourcedRule } from '../../settings/types.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';
import { parseRules } from '../rules/rules.js';
import { createGate } from './gate.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'a.txt': 'a\n' } });
});
afterAll(() => project.remove());

/** A gate whose mode changes while a hook looks at the call. */
function switching(from: PermissionMode, to: PermissionMode) {
  let mode = from;
  return gateRig({
    cwd: project.directory,
    home: project.home,
    get mode() {
      return mode;
    },
    precheck: async (view) => {
      mode = to;
      return { view, trace: [] };
    },
  });
}

describe('a mode that changes while hooks are asked', () => {
  it.each<[PermissionMode, PermissionMode, string]>([
    ['acceptEdits', 'acceptEdits', 'runs'],
    ['acceptEdits', 'default', 'asks'],
    ['bypassPermissions', 'plan', 'asks'],
  ])('from %s to %s: %s', async (from, to, outcome) => {
    const input = { file_path: project.at('n.txt'), content: 'new\n' };
    expect(await switching(from, to).outcome('Write', input)).toBe(outcome);
  });
});

describe('a mode that changes while a guard waits', () => {
  /** A gate with a guard that waits, as one does that asks a server. */
  function waiting(modes: readonly PermissionMode[]) {
    let asked = 0;
    const rig = gateRig({
      cwd: project.directory,
      home: project.home,
      get mode() {
        return modes[Math.min(asked, modes.length - 1)] ?? 'default';
      },
      guards: [
        {
          name: 'slow',
          onFailure: 'deny',
          decide: async () => {
            await Promise.resolve();
            asked += 1;
            return { decision: 'none' };
          },
        },
      ],
    });
    return { rig, asked: () => asked };
  }

  it.each<[readonly PermissionMode[], string, number]>([
    [['acceptEdits'], 'runs', 1],
    [['acceptEdits', 'default'], 'asks', 2],
    [['bypassPermissions', 'plan'], 'asks', 2],
    [['default', 'acceptEdits'], 'runs', 2],
    [['acceptEdits', 'default', 'acceptEdits'], 'runs', 3],
  ])('is judged as it is when the wait is over: %j %s', async (modes, outcome, rounds) => {
    const { rig, asked } = waiting(modes);
    const input = { file_path: project.at('n.txt'), content: 'new\n' };
    expect(await rig.outcome('Write', input)).toBe(outcome);
    expect(asked()).toBe(rounds);
  });

  it('without end allows nothing', async () => {
    const modes = Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? 'acceptEdits' : 'default'));
    const { rig, asked } = waiting(modes as PermissionMode[]);
    const input = { file_path: project.at('n.txt'), content: 'new\n' };
    const verdict = await rig.call('Write', input);
    expect(verdict.kind).not.toBe('allowed');
    expect(JSON.stringify(verdict.receipt)).toContain('kept changing while the call was judged');
    expect(asked()).toBe(4);
  });
});

function sourced(text: string): SourcedRule {
  const root = project.directory;
  return { value: { text, root }, source: 'project', file: '/s.json', line: 1, trusted: true };
}

describe('rules that change while a guard waits', () => {
  it('deny the call that was judged by those before', async () => {
    const place = { cwd: project.directory, home: project.home };
    const parse = (deny: readonly string[]) =>
      parseRules({ allow: [sourced('Write')], ask: [], deny: deny.map(sourced) }, place).rules;
    let rules = parse([]);
    const stricter = parse(['Write(n.txt)']);
    const gate = createGate({
      fs: nodeFileSystem,
      home: project.home,
      clock: { monotonic: () => 0 },
      mode: () => 'acceptEdits',
      rules: () => rules,
      asker: () => undefined,
      guards: [
        {
          name: 'slow',
          onFailure: 'deny',
          decide: async () => {
            rules = stricter;
            return { decision: 'none' };
          },
        },
      ],
    });
    const tool = standIn('Write');
    const input = { file_path: project.at('n.txt'), content: 'new\n' };
    const { directory: cwd } = project;
    const workspace = { cwd, roots: [cwd], setCwd: () => undefined };
    const verdict = await gate({
      toolUseId: 'call-1',
      tool,
      input,
      subject: tool.subject(input, workspace),
      agent: MAIN_AGENT,
      workspace,
      signal: new AbortController().signal,
    });
    expect(verdict).toMatchObject({ kind: 'refused', receipt: { decidedBy: 'deny rules' } });
  });
});

describe('rules and modes that change while a question is open', () => {
  interface Standing {
    readonly mode?: PermissionMode;
    readonly deny?: readonly string[];
    readonly ask?: readonly string[];
    readonly allow?: readonly string[];
  }
  const parse = ({ deny = [], ask = [], allow = [] }: Standing) =>
    parseRules(
      { allow: allow.map(sourced), ask: ask.map(sourced), deny: deny.map(sourced) },
      { cwd: project.directory, home: project.home },
    ).rules;

  async function answered(before: Standing, after: Standing) {
    let [mode, rules] = [before.mode ?? 'default', parse(before)];
    let [asked, hooks] = [0, 0];
    const gate = createGate({
      fs: nodeFileSystem,
      home: project.home,
      clock: { monotonic: () => 0 },
      mode: () => mode,
      rules: () => rules,
      asker: () => async () => {
        asked += 1;
        [mode, rules] = [after.mode ?? 'default', parse(after)];
        return { behavior: 'allow' };
      },
      precheck: async (view) => {
        hooks += 1;
        return { view, trace: [] };
      },
    });
    const tool = standIn('Write');
    const input = { file_path: project.at('n.txt'), content: 'new\n' };
    const { directory: cwd } = project;
    const workspace = { cwd, roots: [cwd], setCwd: () => undefined };
    const verdict = await gate({
      toolUseId: 'call-1',
      tool,
      input,
      subject: tool.subject(input, workspace),
      agent: MAIN_AGENT,
      workspace,
      signal: new AbortController().signal,
    });
    expect([asked, hooks]).toEqual([1, 1]);
    return verdict;
  }

  it.each<[string, Standing, Standing, string]>([
    ['a deny rule came', {}, { deny: ['Write(n.txt)'] }, 'refused'],
    ['an ask rule came', {}, { ask: ['Write(n.txt)'] }, 'refused'],
    ['plan mode came', {}, { mode: 'plan' }, 'refused'],
    ['nothing changed', {}, {}, 'allowed'],
    ['another rule came', {}, { deny: ['Write(other.txt)'] }, 'allowed'],
    ['a wider mode came', {}, { mode: 'acceptEdits' }, 'allowed'],
    [
      'the rule that asked stayed',
      { ask: ['Write'] },
      { ask: ['Write'], allow: ['Read'] },
      'allowed',
    ],
    [
      'plan mode, which asked, stayed',
      { mode: 'plan' },
      { mode: 'plan', deny: ['Read'] },
      'allowed',
    ],
    ['plan mode, which asked, ended', { mode: 'plan' }, {}, 'allowed'],
  ])('%s: a yes is %3$s', async (_what, before, after, kind) => {
    expect((await answered(before, after)).kind).toBe(kind);
  });

  it('say in the receipt what holds the call', async () => {
    expect(await answered({}, { deny: ['Write(n.txt)'] })).toMatchObject({
      receipt: {
        decidedBy: 'deny rules',
        reason: expect.stringContaining('changed while the question was open'),
      },
      message: expect.stringContaining('denied by permission rule Write(n.txt)'),
    });
  });
});
