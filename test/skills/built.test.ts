import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { PROGRAM } from '../e2e/program.js';
import { skillText } from './rig.js';

let project: TempProject | undefined;
afterEach(() => project?.remove());

describe('the built program', () => {
  it('reads heads that need a YAML library', () => {
    const head = [
      'description: d',
      'metadata: {author: me}',
      'hooks:',
      '  PreToolUse:',
      '    - matcher: Bash',
      '      hooks: [{type: command, command: "true"}]',
      'portcullis:',
      '  fence-tools: [Read]',
    ].join('\n');
    project = makeTempProject({ files: { '.claude/skills/hk/SKILL.md': skillText(head, 'BODY') } });
    const [node = '', file = ''] = PROGRAM;
    const { stdout } = spawnSync(node, [file, 'skills', 'list', '--json'], {
      cwd: project.directory,
      env: { PATH: process.env.PATH, HOME: project.home },
      encoding: 'utf8',
    });
    expect(stdout).toContain('"hk"');
    expect(stdout).not.toContain('cannot be read');
  });
});
