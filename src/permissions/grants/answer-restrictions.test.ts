import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import type { PermissionUpdate } from '../../protocol/permissions.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

let project: TempProject;
beforeEach(() => {
  project = makeTempProject({ files: { 'a.txt': 'a\n' } });
});
afterEach(() => project.remove());

it.each<['addRules' | 'replaceRules', string, string, string]>([
  ['addRules', 'Edit', 'echo x > a.txt', 'Edit'],
  ['replaceRules', 'Edit', 'echo x > a.txt', 'Edit'],
  ['addRules', 'Read', 'cat a.txt', 'Read'],
])(
  '%s %s(**) bans the tool and every other way to the files below',
  async (type, toolName, command, tool) => {
    const update: PermissionUpdate = {
      type,
      behavior: 'deny',
      destination: 'session',
      rules: [{ toolName, ruleContent: '**' }],
    };
    const gate = gateRig({
      cwd: project.directory,
      home: project.home,
      allow: ['Bash', 'Edit', 'Read'],
      asker: async () => ({ behavior: 'allow', updatedPermissions: [update] }),
      answers: { configDir: path.join(project.home, '.claude'), news: [] },
    });
    expect(await gate.bash(command)).toBe('runs');
    await gate.call('mcp__s__t', {});
    expect(await gate.bash(command)).not.toBe('runs');
    expect((await gate.call(tool, { file_path: '/elsewhere/b.txt' })).kind).toBe('refused');
  },
);
