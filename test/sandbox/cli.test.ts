import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environment, type SessionEnvironment, whyNot } from './inside.js';

const reason = await whyNot();
const PROGRAM = path.resolve(import.meta.dirname, '../../bin/portcullis');

describe.skipIf(reason !== undefined)(`portcullis sandbox${reason ? ` (${reason})` : ''}`, () => {
  let g: SessionEnvironment;
  beforeAll(async () => {
    g = await environment();
    mkdirSync(path.join(g.base, 'home/.claude'), { recursive: true });
  });
  afterAll(() => g.close());

  const portcullis = (...args: string[]) =>
    spawnSync(PROGRAM, ['sandbox', ...args], {
      cwd: g.project,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: path.join(g.base, 'home') },
    });

  it('says what there is', () => {
    const { stdout, status } = portcullis('status', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      availability: { kind: 'available', driver: 'bubblewrap' },
      enabledBy: null,
      policy: { writable: [g.project], network: 'none' },
    });
    expect(portcullis('status').stdout).toContain('settings: off');
  });

  it('runs a command as an agent would, and says what it was kept from', () => {
    const ran = portcullis(
      'run',
      '--',
      'sh',
      '-c',
      `echo in > file; echo x > ${g.outside}/x; exit 3`,
    );
    expect(ran.status).toBe(3);
    expect(existsSync(path.join(g.project, 'file'))).toBe(true);
    expect(existsSync(path.join(g.outside, 'x'))).toBe(false);
    expect(ran.stderr).toContain('outside the directories that may be written');
    expect(readdirSync(g.project)).toEqual(['file']);
  });

  it('goes by the settings', () => {
    const file = path.join(g.base, 'home/.claude/settings.json');
    const settings = { sandbox: { enabled: true, filesystem: { allowWrite: [g.outside] } } };
    writeFileSync(file, JSON.stringify(settings));
    expect(portcullis('status').stdout).toContain('settings: on');
    expect(portcullis('run', 'touch', `${g.outside}/allowed`).status).toBe(0);
    expect(existsSync(path.join(g.outside, 'allowed'))).toBe(true);
    writeFileSync(file, '{}');
  });

  it('needs a command', () => {
    expect(portcullis('run').status).toBe(2);
    expect(portcullis('status', 'x').status).toBe(2);
  });
});
