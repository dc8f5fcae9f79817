import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { makeTempProject } from '../../src/testing/temp-project.js';
import { generateCommand } from './generate.js';
import { openObserver } from './observe.js';
import { predict } from './predict.js';

export interface SoundnessFigures {
  commands: number;
  /** Commands of which the model makes a claim, and which were run and compared. */
  claimed: number;
  hung: number;
  readonly misses: string[];
}

export interface Soundness {
  /** Runs a command of which the model makes a claim; what it did besides. Undefined where there is no claim. */
  check(argv: readonly string[]): Promise<readonly string[] | 'hung' | undefined>;
  close(): void;
}

/** Real programs in a scratch tree, whose system calls are compared with the effects that the model foretells. */
export function openSoundness(): Soundness {
  const root = makeTempProject();
  const [template, scratch, place] = ['template', 'scratch', 'place'].map((name) =>
    path.join(root.root, name),
  );
  if (template === undefined || scratch === undefined || place === undefined)
    throw new Error('no place');
  for (const directory of [template, scratch, place]) mkdirSync(directory);
  fillTemplate(template);
  const project = path.join(scratch, 'project');
  const home = path.join(scratch, 'home');
  const restore = (): void => {
    for (const name of readdirSync(scratch)) rmSync(path.join(scratch, name), { recursive: true });
    cpSync(template, scratch, {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    });
  };
  restore();
  const observer = openObserver(scratch, { project, home, place });
  return {
    async check(argv) {
      const prediction = await predict(argv, { cwd: project, home });
      if (prediction === undefined) return undefined;
      const observed = await observer.run(argv);
      const misses = observed === undefined ? 'hung' : [...new Set(prediction.misses(observed))];
      const isChanged = observed?.some(
        (one) => one.kind === 'path' && /write|delete/.test(one.access),
      );
      if (isChanged !== false) restore();
      return misses;
    },
    close() {
      observer.close();
      root.remove();
    },
  };
}

export async function runSoundness(
  soundness: Soundness,
  { seed, from = 0, commands }: { seed: number; from?: number; commands: number },
): Promise<SoundnessFigures> {
  const figures: SoundnessFigures = { commands: 0, claimed: 0, hung: 0, misses: [] };
  for (let index = from; figures.claimed < commands; index++) {
    const argv = generateCommand(seed, index);
    figures.commands++;
    const found = await soundness.check(argv);
    if (found === undefined) continue;
    figures.claimed++;
    if (found === 'hung') figures.hung++;
    else if (found.length > 0) figures.misses.push(`${argv.join(' ')}: ${found.join(', ')}`);
  }
  return figures;
}

const FILES: Readonly<Record<string, string>> = {
  'project/a.txt': 'b\na\nx 1\n',
  'project/b.txt': 'a\nc\n',
  'project/sub/b.txt': 'x\ny\n',
  'project/sub/deep/c.txt': 'deep\n',
  'project/numbers.txt': '3\n1\n2\n',
  'project/data.csv': 'a,b\n1,2\n',
  'project/data.json': '{"a": [1, 2]}\n',
  'project/list.txt': 'a.txt\nb.txt\n',
  'project/script.sed': 's/a/b/\n',
  'project/.env': 'PASSWORD=x\n',
  'project/empty': '',
  'outside/secret': 'secret\n',
  'home/.gitconfig': '[user]\n\tname = a\n\temail = a@b.c\n',
};

function fillTemplate(template: string): void {
  for (const [name, text] of Object.entries(FILES)) {
    const file = path.join(template, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const project = path.join(template, 'project');
  symlinkSync('a.txt', path.join(project, 'link'));
  symlinkSync('sub', path.join(project, 'dirlink'));
  symlinkSync('../outside/secret', path.join(project, 'outlink'));
  symlinkSync('../../outside', path.join(project, 'sub/uplink'));
  const run = (program: string, ...args: readonly string[]): void => {
    const env = {
      PATH: '/usr/bin:/bin',
      HOME: path.join(template, 'home'),
      GIT_CONFIG_NOSYSTEM: '1',
    };
    execFileSync(program, args, { cwd: project, env, stdio: 'ignore' });
  };
  run('tar', '-cf', 'a.tar', 'b.txt', 'sub');
  run('gzip', '-k', 'b.txt');
  run('mv', 'b.txt.gz', 'z.gz');
  run('git', 'init', '-q', '-b', 'main');
  run('git', 'add', 'a.txt', 'sub/b.txt');
  run('git', 'commit', '-q', '-m', 'first');
  run('git', 'commit', '-q', '--allow-empty', '-m', 'second');
}
