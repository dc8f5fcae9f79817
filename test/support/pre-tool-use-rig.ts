import { afterAll } from 'vitest';
import { createHookPrecheck } from '../../src/hooks/events/pre-tool-use.js';
import type { HookAnswer, Occasion } from '../../src/hooks/registry/hook.js';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { type FakeHook, fakeHooks, type Said, type Says } from './fake-hooks.js';
import { gateRig, type Rig, type RigOptions } from './gate-rig.js';

export interface HookRig extends Rig {
  /** Every round of questions, in order. */
  readonly fired: readonly Occasion[];
}

/** Makes gates in front of which PreToolUse hooks stand, by label. To be called once a file. */
export function preToolUseRigs() {
  const project = makeTempProject({ files: { 'a.txt': 'a' } });
  afterAll(() => project.remove());
  const rig = (
    hooks: Readonly<Record<string, FakeHook | Says>>,
    options: Partial<RigOptions> = {},
  ): HookRig => {
    const { dispatch, fired } = fakeHooks('PreToolUse', hooks);
    const precheck = createHookPrecheck(dispatch, { ifRule: () => async () => true });
    const gate = gateRig({ cwd: project.directory, home: project.home, precheck, ...options });
    return { ...gate, fired };
  };
  return { project, rig };
}

export const answers = (answer: Partial<HookAnswer>) => (): Said => ({ answer });

export const says = (decision: HookAnswer['decision'], reason?: string) =>
  answers(reason === undefined ? { decision } : { decision, reason });

export const rewrites = (updatedInput: unknown, decision: HookAnswer['decision'] = 'none') =>
  answers({ decision, fields: { updatedInput } });

export const command = (text: string) => ({ command: text });

export const commandOf = ({ fields }: Occasion): string =>
  (fields.tool_input as { command: string }).command;

/** A call that runs when nobody minds. */
export const READ = ['Read', { file_path: 'a.txt' }] as const;
