import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { standIn } from '../../../test/support/gate-rig.js';
import { systemClock } from '../../platform/clock.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { makeTempProject } from '../../testing/temp-project.js';
import { openPermissions, type PermissionParts } from './open.js';
import type { Asker, GateVerdict } from './types.js';

const project = makeTempProject({ files: { 'run.sh': 'echo one\n' } });
afterAll(() => project.remove());

const cwd = project.directory;

/** Asks for a script to be run that nothing allows. */
async function ask(
  parts: Partial<PermissionParts>,
  settings: Partial<PermissionParts['settings']> = {},
): Promise<GateVerdict> {
  const { gate } = openPermissions({
    fs: nodeFileSystem,
    clock: systemClock,
    env: { HOME: project.home },
    isRoot: false,
    cwd,
    settings: { allow: [], ask: [], deny: [], additionalDirectories: [], ...settings },
    allowedTools: [],
    disallowedTools: [],
    mode: undefined,
    bypassArmed: false,
    asker: undefined,
    emit: () => undefined,
    ...parts,
  });
  const workspace = { cwd, roots: [cwd], setCwd: () => undefined };
  const tool = standIn('Bash');
  const input = { command: 'sh run.sh' };
  const subject = tool.subject(input, workspace);
  const { signal } = new AbortController();
  return await gate({ toolUseId: 't', tool, input, subject, agent: MAIN_AGENT, workspace, signal });
}

const yes: Asker = async () => ({ behavior: 'allow' });
const swaps: Asker = async () => {
  writeFileSync(path.join(cwd, 'run.sh'), `echo ${Math.random()}\n`);
  return { behavior: 'allow' };
};

describe('who is asked in a session', () => {
  it('is the asker, or whoever stands around it', async () => {
    expect((await ask({})).kind).toBe('refused');
    expect((await ask({ asker: yes })).kind).toBe('allowed');
    expect((await ask({ around: () => yes })).kind).toBe('allowed');
    expect((await ask({ asker: yes, around: () => undefined })).kind).toBe('refused');
  });

  it('is no person where nobody may be asked; others still are', async () => {
    const denyInsteadOfPrompting = { value: true, source: 'user', trusted: true } as const;
    const asked: (Asker | undefined)[] = [];
    const around: PermissionParts['around'] = (_call, asker) => {
      asked.push(asker);
      return asker ?? yes;
    };
    const limited = await ask({ asker: swaps, around }, { denyInsteadOfPrompting });
    expect(limited.kind).toBe('allowed');
    expect(asked).toEqual([undefined]);
  });

  it('says yes to what was there when the question was put, whoever answers', async () => {
    for (const parts of [{ asker: swaps }, { around: () => swaps }]) {
      expect(await ask(parts)).toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('run.sh changed while the question'),
      });
    }
  });

  it('comes after what looks at every call first', async () => {
    const verdict = await ask({
      asker: yes,
      precheck: async (view) => ({
        view,
        trace: [],
        contexts: ['NOTE'],
        guard: { name: 'first', onFailure: 'deny', decide: async () => ({ decision: 'deny' }) },
      }),
    });
    expect(verdict).toMatchObject({
      kind: 'refused',
      contexts: ['NOTE'],
      receipt: { decidedBy: 'first' },
    });
  });
});
