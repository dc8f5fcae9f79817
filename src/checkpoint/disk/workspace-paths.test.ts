import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveWriteTarget } from './workspace-read.js';

let home: string;
let root: string;

beforeAll(() => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'rewind-paths-')));
  root = path.join(home, 'root');
  fs.mkdirSync(path.join(root, 'd'), { recursive: true });
  fs.writeFileSync(path.join(home, 'outside'), '');
  fs.symlinkSync('root', path.join(home, 'alias'));
  fs.symlinkSync('d', path.join(root, 'link'));
  fs.symlinkSync('../outside', path.join(root, 'out'));
});
afterAll(() => fs.rmSync(home, { recursive: true, force: true }));

it('follows links as a write does', () => {
  expect(resolveWriteTarget(root, 'd/new/file')).toEqual({ inside: 'd/new/file' });
  expect(resolveWriteTarget(root, 'link/file')).toEqual({ inside: 'd/file' });
  expect(resolveWriteTarget(root, path.join(home, 'alias/d/file'))).toEqual({ inside: 'd/file' });
  expect(resolveWriteTarget(root, 'out')).toEqual({ outside: path.join(home, 'outside') });
  expect(resolveWriteTarget(root, '../x')).toEqual({ outside: path.join(home, 'x') });
  expect(resolveWriteTarget(root, '/nowhere/at/all')).toEqual({ outside: '/nowhere/at/all' });
});
