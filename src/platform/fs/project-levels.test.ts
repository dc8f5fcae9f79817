import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lookAtLevels, mayBeThere, projectLevels } from './project-levels.js';

let root: string;
let below: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'portcullis-levels-')));
  below = path.join(root, 'one/two');
  mkdirSync(path.join(root, '.git'));
  mkdirSync(below, { recursive: true });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('projectLevels', () => {
  it('goes from the start directory up to the root of the repository', () => {
    expect(projectLevels(below)).toEqual([below, path.join(root, 'one'), root]);
    expect(projectLevels(root)).toEqual([root]);
  });

  it('is the start directory alone outside of a repository', () => {
    rmSync(path.join(root, '.git'), { recursive: true });
    expect(projectLevels(below)).toEqual([below]);
  });
});

describe('lookAtLevels', () => {
  it('says of each level what it has', () => {
    mkdirSync(path.join(root, '.claude'));
    writeFileSync(path.join(root, 'one/.mcp.json'), '{}');
    expect(lookAtLevels(below)).toEqual([
      { path: below, hasDirectory: false, hasServers: false },
      { path: path.join(root, 'one'), hasDirectory: false, hasServers: true },
      { path: root, hasDirectory: true, hasServers: false },
    ]);
  });

  it('follows a link, and takes one to nowhere for nothing', () => {
    mkdirSync(path.join(root, 'elsewhere'));
    symlinkSync(path.join(root, 'elsewhere'), path.join(root, '.claude'));
    symlinkSync(path.join(root, 'nowhere'), path.join(below, '.claude'));
    const [bottom, , top] = lookAtLevels(below);
    expect([bottom?.hasDirectory, top?.hasDirectory]).toEqual([false, true]);
  });

  it('takes for there what cannot be looked at', () => {
    expect(mayBeThere(path.join(root, 'x'.repeat(300)))).toBe(true);
  });
});
