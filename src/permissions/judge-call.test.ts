import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../test/support/gate-rig.js';
import type { PermissionMode } from '../protocol/permissions.js';
import { makeTempProject, type TempProject } from '../testing/temp-project.js';

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
