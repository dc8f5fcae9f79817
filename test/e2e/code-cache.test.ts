import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const SUFFIX = `.${process.version}-${process.arch}.cache`;

let project: TempProject;
let program: string;
let packs: string;

/** A copy of the built program without the code that was compiled for it. */
beforeEach(() => {
  project = makeTempProject({ files: {} });
  const copy = path.join(project.root, 'copy');
  program = path.join(copy, 'bin/portcullis');
  packs = path.join(copy, 'dist/cli');
  mkdirSync(path.join(copy, 'dist'), { recursive: true });
  cpSync(path.join(ROOT, 'bin'), path.join(copy, 'bin'), { recursive: true });
  cpSync(path.join(ROOT, 'dist/cli'), packs, {
    recursive: true,
    filter: (file) => !file.endsWith('.cache'),
  });
});
afterEach(() => project.remove());

/** A start that gets as far as to find that there is no model. */
function start(): {
  readonly code: number | null;
  readonly stderr: string;
  readonly left: string[];
} {
  const temporary = path.join(project.root, 'temporary');
  mkdirSync(temporary, { recursive: true });
  const { status, stderr } = spawnSync(process.execPath, [program, '-p', 'go'], {
    cwd: project.directory,
    env: { PATH: process.env.PATH, HOME: project.home, TMPDIR: temporary },
    encoding: 'utf8',
  });
  return { code: status, stderr, left: readdirSync(temporary) };
}

const NO_MODEL = { code: 3, stderr: expect.stringMatching(/^portcullis: no model/), left: [] };

describe('a program without code that was compiled for this version of Node', () => {
  it('works, and keeps and looks for none where others can write', () => {
    expect(start()).toEqual(NO_MODEL);
    expect(readdirSync(packs).filter((name) => name.endsWith('.cache'))).toEqual([]);
  });

  it('takes no notice of what was compiled by another version, or is not whole', () => {
    const main = path.join(packs, `main${SUFFIX}`);
    const env = { ...process.env, PORTCULLIS_WRITE_CODE_CACHE: '1', HOME: project.home };
    execFileSync(process.execPath, [program, '--version'], { env });
    const whole = readFileSync(main);
    const ofAnother = Buffer.from(whole);
    // The second word of it is the version of V8.
    ofAnother.writeUInt8(ofAnother.readUInt8(4) ^ 1, 4);
    for (const bytes of [ofAnother, Buffer.alloc(0), Buffer.from('{}'), whole.subarray(0, 5_000)]) {
      writeFileSync(main, bytes);
      expect(start()).toEqual(NO_MODEL);
    }
    writeFileSync(main, whole);
    truncateSync(main, whole.length - 8);
    expect(start()).toEqual(NO_MODEL);
  });
});
