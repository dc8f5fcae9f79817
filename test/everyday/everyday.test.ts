import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { gateRig, type Rig } from '../support/gate-rig.js';

/** `unasked` and a command as a JSON string, or `asked`, the command and why; one a line. */
const LINES = readFileSync(path.resolve('test/everyday/commands.txt'), 'utf8')
  .trimEnd()
  .split('\n');
const FILES =
  `package.json README.md src/index.ts src/util.ts test/index.test.ts logs/app.log a.txt b.txt files.txt
  run.sh script.py .gitignore .env Makefile config.yml`.split(/\s+/);
const EXPORTED = new Set(['PATH', 'HOME', 'PWD', 'LANG', 'SHLVL', '_']);

describe('commands that agents run every day, in the default mode without a rule', () => {
  let project: TempProject;
  let rig: Rig;
  beforeAll(() => {
    project = makeTempProject({ files: Object.fromEntries(FILES.map((name) => [name, 'x\n'])) });
    execFileSync('git', ['init', '-q', project.directory]);
    const facts = { exported: () => EXPORTED };
    rig = gateRig({ cwd: project.directory, home: project.home, facts });
  });
  afterAll(() => project.remove());

  it('are at least 400, and more than half of them are not asked about', () => {
    expect(LINES.length).toBeGreaterThanOrEqual(400);
    const unasked = LINES.filter((line) => line.startsWith('unasked\t'));
    expect(unasked.length).toBeGreaterThan(LINES.length / 2);
  });

  it('are asked about for the reason that is written down, or not at all', async () => {
    const found: string[] = [];
    for (const line of LINES) {
      const [, text = '""'] = line.split('\t');
      const verdict = await rig.call('Bash', { command: JSON.parse(text) });
      const why = verdict.receipt.reason.replaceAll(path.dirname(project.directory), '@');
      found.push(verdict.kind === 'allowed' ? `unasked\t${text}` : `asked\t${text}\t${why}`);
    }
    expect(found).toEqual(LINES);
  }, 60_000);
});
