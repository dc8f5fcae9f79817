import { symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gateRig } from '../../../test/support/gate-rig.js';
import { nodeFileSystem } from '../../platform/fs/node-fs.js';
import { makeTempProject, type TempProject } from '../../testing/temp-project.js';

const DIRECTORIES = 6;
let project: TempProject;
beforeAll(() => {
  const names = Array.from({ length: DIRECTORIES }, (_, at) => `src/d${at}`);
  const files = names.flatMap((name) => [`${name}/a.ts`, `${name}/b.pem.ts`, `${name}/c/d.ts`]);
  project = makeTempProject({
    files: Object.fromEntries(['a.txt', '.env', ...files].map((name) => [name, 'x'])),
    git: true,
  });
  symlinkSync('src', project.at('link'));
  symlinkSync('nowhere', project.at('dangling'));
});
afterAll(() => project.remove());

const DENY = ['./.env', '**/*.pem', '~/.ssh/**', '//etc/**'].map((path) => `Edit(${path})`);
const READ = ['./.env', '**/*.key', '**/secrets/**', './private/**'].map((path) => `Read(${path})`);

/** The looks at the disk that judging a text takes, as a count, because time depends on the machine. */
async function looksFor(command: string): Promise<number> {
  let looks = 0;
  const counted = <A extends readonly unknown[], R>(look: (...args: A) => R) => {
    return (...args: A): R => {
      looks++;
      return look(...args);
    };
  };
  const fs = {
    ...nodeFileSystem,
    realPath: counted(nodeFileSystem.realPath),
    lstat: counted(nodeFileSystem.lstat),
    list: counted(nodeFileSystem.list),
    readText: counted(nodeFileSystem.readText),
    readBytes: counted(nodeFileSystem.readBytes),
  };
  const { directory: cwd, home } = project;
  const deny = [...READ, ...DENY, 'Bash(curl:*)'];
  const ask = ['Bash(git push:*)', 'Read(./private/**)'];
  await gateRig({ cwd, home, fs, deny, ask, allow: ['Bash'] }).bash(command);
  return looks;
}

/** With a million steps for a call and a hundred for a look; listings of small directories are cheaper. */
const MOST_LOOKS = 12_000;

const fill = (make: (at: number) => string, between: string, length: number): string => {
  const parts: string[] = [];
  for (let at = 0, size = 0; size < length; at++) {
    const part = make(at);
    parts.push(part);
    size += part.length + between.length;
  }
  return parts.join(between);
};
const directory = (at: number): string => `src/d${at % DIRECTORIES}`;

const SHAPES: Readonly<Record<string, (length: number) => string>> = {
  'git stash again and again': (length) => fill(() => 'git stash', ';', length),
  'git checkout again and again': (length) => fill(() => 'git checkout .', ';', length),
  'git clean again and again': (length) => fill(() => 'git clean -fdx', ';', length),
  'a walk again and again': (length) => fill(() => 'grep -r x .', ';', length),
  'a find that deletes again and again': (length) => fill(() => 'find . -delete', ';', length),
  'a find from many directories': (length) => `find ${fill(directory, ' ', length)} -delete`,
  'chmod -R on many directories': (length) => `chmod -R 777 ${fill(directory, ' ', length)}`,
  'copies of many directories': (length) => `cp -r ${fill(directory, ' ', length)} x`,
  'cd and read in many directories': (length) =>
    `${fill((at) => `cd ${directory(at)}`, ';', 300)};${fill((at) => `cat f${at}`, ';', length)}`,
  'many files': (length) => `cat ${fill((at) => `f${at}`, ' ', length)}`,
  'many files of a loop': (length) =>
    `for a in ${fill((at) => `f${at}`, ' ', length)}; do rm -rf "$a"; done`,
  'files behind a link': (length) => `cat ${fill((at) => `link/x${at}`, ' ', length)}`,
  'files behind a link to nothing': (length) =>
    `cat ${fill((at) => `dangling/x/y${at}`, ' ', length)}`,
  'many patterns': (length) => `cat ${fill((at) => `src/*/*${at}`, ' ', length)}`,
  'an array of names': (length) => `a=(${fill((at) => `f${at}`, ' ', length)})`,
};

describe('a text made to keep the gate busy', () => {
  it.each(Object.entries(SHAPES))('asks the disk only so often: %s', async (_name, make) => {
    // Up to here a text is short enough to be allowed; far longer ones end sooner.
    expect(await looksFor(make(9_900))).toBeLessThan(MOST_LOOKS);
  });
});
