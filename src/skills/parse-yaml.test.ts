import { describe, expect, it } from 'vitest';
import { readSkill } from './head.js';
import { parseYaml } from './parse-yaml.js';

const skill = (head: string): string => `---\n${head}\n---\nBODY`;

describe('heads that need a YAML library', () => {
  it('reads maps', async () => {
    const head = [
      'description: d',
      'metadata:',
      '  author: me',
      'hooks:',
      '  PreToolUse:',
      '    - matcher: Bash',
      '      hooks: [{type: command, command: ./guard.sh}]',
      'portcullis:',
      '  fence-tools: [Read, "Bash(git diff *)"]',
    ].join('\n');
    const read = await readSkill(skill(head), { parseYaml });
    expect(read.problems).toEqual([]);
    expect(read.head).toMatchObject({
      fenceTools: ['Read', 'Bash(git diff *)'],
      hooks: {
        PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: './guard.sh' }] }],
      },
    });
  });

  it.each([
    'a: &a [x]\nb: *a\nportcullis: {}',
    'a: !!binary aGk=\nportcullis: {}',
    'a: !js x\nportcullis: {}',
    'a: 1\na: 2\nportcullis: {}',
    'portcullis:\n  fence-tools: [Read',
    '"portcullis": {x: y}\n __proto__: {a: b}',
  ])('refuses what may mean something else: %j', async (head) => {
    const { refusal } = await readSkill(skill(head), { parseYaml });
    expect(refusal).toBeDefined();
  });

  it('does not blow up', async () => {
    const levels = 'abcdefgh'.split('');
    const bomb = levels.map((name, at) => {
      const before = levels[at - 1];
      const item = before === undefined ? 'x' : `*${before}`;
      return `${name}: &${name} [${Array.from({ length: 9 }, () => item).join(',')}]`;
    });
    const { head, problems } = await readSkill(skill(bomb.join('\n')), { parseYaml });
    expect(problems.length).toBeGreaterThan(0);
    expect(JSON.stringify(head).length).toBeLessThan(1_000);
  });
});
