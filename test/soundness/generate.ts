import { existsSync } from 'node:fs';
import { GIT_LOOKS } from '../../src/permissions/git/subcommands.js';
import type { OptionTable } from '../../src/permissions/shell/effects/options.js';
import type { OperandForm, Program } from '../../src/permissions/shell/effects/program.js';
import { MODELLED } from '../../src/permissions/shell/programs/index.js';
import { Random } from '../differential/generator.js';

const FILES =
  `a.txt b.txt sub/b.txt sub sub/deep sub/deep/c.txt link dirlink outlink uplink . .. ./a.txt ../outside
  ../outside/secret new.txt sub/new missing .env numbers.txt data.csv a.tar z.gz empty list.txt script.sed sub/../a.txt
  dirlink/b.txt .git/config data.json`.split(/\s+/);
const OUTPUTS = ['out.txt', 'sub/out', '.env', 'a.txt', 'link', 'outlink', '../outside/out'];
const TEXTS =
  `1 2 3 0 x a , : 1,2 1-2 2K name none always iso %s %d utf8 never auto . * *.txt b* 644 u+x size time short
  HEAD main 1c`.split(/\s+/);

/** Programs whose arguments follow rules of their own: each with words that they are made of. */
const CUSTOM: Readonly<Record<string, readonly string[]>> = {
  find: `-H -L -P . sub dirlink ../outside -name *.txt -type f d l -maxdepth 1 2 -delete -print -print0 -ls -newer a.txt
    -empty -follow -prune -o -not ( ) -size +0 -fprint out.txt -fls sub/out -printf %p -exec cat {} ; -execdir rm {} + touch
    -samefile b.txt -mindepth -depth -quit -path`.split(/\s+/),
  sed: `-n -e p 1d s/a/b/ s/x/y/g -i -i.bak -E -r -s -z -f script.sed wout.txt 1,2p $p r a.txt a.txt b.txt sub/b.txt link
    1r../outside/secret s/a/b/wout.txt --in-place --expression=p -u --quiet y/a/b/ 1q =`.split(
    /\s+/,
  ),
  awk: `{print} {print$1} -F , -v x=1 a.txt b.txt data.csv NR==1 END{print} -f BEGIN{x=1} $1>1`.split(
    /\s+/,
  ),
  jq: `. .a -r -c -n keys data.json --arg x 1 -e . -s --slurpfile y a.txt --rawfile z b.txt .[]`.split(
    /\s+/,
  ),
  xxd: `-p -r -l 4 -s 1 -c 8 -b a.txt new.txt -u -pc -i -e -g 2 sub/b.txt`.split(/\s+/),
  date: `+%s -u -d now -r a.txt -f list.txt --date=now -I -R --reference=b.txt --file=a.txt`.split(
    /\s+/,
  ),
  env: `-i -u x A=1 cat ls rm a.txt b.txt -C sub touch new.txt -0 --chdir=sub`.split(/\s+/),
  xargs: `-0 -r -n 1 cat ls rm a.txt -a list.txt touch new.txt -I {} -t`.split(/\s+/),
  test: `-f a.txt -d sub -nt b.txt -z x = -e link ! -ef`.split(/\s+/),
  printf: `%s\\n a b %d 1 -v`.split(/\s+/),
};

/** Programs that wait, or that show what others do; package managers, with caches and logs of their own, neither. */
const LEFT_OUT =
  /^(sleep|watch|yes|less|more|man|top|htop|tail|timeout|script|ps|pgrep|free|vmstat|lsof|ss|netstat|cd|docker)$/;

const NAMES = Object.keys(MODELLED).filter(
  (name) =>
    !LEFT_OUT.test(name) && MODELLED[name]?.partial !== true && existsSync(`/usr/bin/${name}`),
);

/** A program of the table with options of its row and operands of the scratch tree; by the seed alone. */
export function generateCommand(seed: number, index: number): readonly string[] {
  const random = new Random(seed * 1_000_003 + index);
  const name = random.pick(NAMES);
  const row = MODELLED[name];
  if (row === undefined) return [name];
  if (name === 'git') {
    const [subcommand, look] = random.pick(Object.entries(GIT_LOOKS));
    return [name, subcommand, ...wordsFor(look, random)];
  }
  if (row.subcommands !== undefined) {
    const [subcommand, inner] = random.pick(Object.entries(row.subcommands));
    return [name, subcommand, ...wordsFor(inner, random)];
  }
  const pool = Object.hasOwn(CUSTOM, name) ? CUSTOM[name] : undefined;
  if (row.custom === undefined) return [name, ...wordsFor(row, random)];
  if (pool === undefined) return [name];
  return [name, ...some(random, 7, () => random.pick(pool))];
}

function wordsFor(row: Program, random: Random): readonly string[] {
  const options = some(random, 4, () => optionOf(row.options, random)).flat();
  const operands = operandsOf(row.operands, random);
  const marked = random.chance(0.1) ? ['--', ...operands] : operands;
  return random.chance(0.8) ? [...options, ...marked] : [...operands, ...options];
}

function optionOf({ short, long, counts }: OptionTable, random: Random): readonly string[] {
  const useLong = long.size > 0 && (short.size === 0 || random.chance(0.4));
  if (counts && random.chance(0.1)) return ['-3'];
  if (!useLong && short.size === 0) return [];
  const [name, { value, kind }] = random.pick([...(useLong ? long : short)]);
  const given = randomValue(kind, random);
  if (useLong) {
    if (value === 'none' || (value === 'attached' && random.chance(0.5))) return [`--${name}`];
    return value === 'required' && random.chance(0.3)
      ? [`--${name}`, given]
      : [`--${name}=${given}`];
  }
  if (value === 'none') {
    const flags = [...short].filter(([, spec]) => spec.value === 'none').map(([letter]) => letter);
    return [`-${name}${random.chance(0.3) ? random.pick(flags) : ''}`];
  }
  if (value === 'attached') return [`-${name}${random.chance(0.5) ? given : ''}`];
  return random.chance(0.3) ? [`-${name}${given}`] : [`-${name}`, given];
}

function randomValue(kind: string, random: Random): string {
  switch (kind) {
    case 'read':
    case 'patterns':
    case 'names':
      return random.pick(FILES);
    case 'write':
      return random.pick(OUTPUTS);
    default:
      return random.chance(0.85) ? random.pick(TEXTS) : random.pick(FILES);
  }
}

function operandsOf(form: OperandForm, random: Random): readonly string[] {
  const file = (): string => random.pick(FILES);
  switch (form) {
    case 'none':
    case 'text':
      return some(random, 2, () => random.pick([...TEXTS, 'a.txt']));
    case 'pattern-read':
      return [random.pick(['a', 'x', '1', '.', '^b']), ...some(random, 3, file)];
    case 'run':
    case 'skip-run':
      return [
        ...(form === 'skip-run' ? ['1'] : []),
        ...random.pick([
          ['cat', file()],
          ['rm', '-r', file()],
          ['sort', '-o', 'out.txt', file()],
          ['touch', file()],
          ['ls'],
        ]),
      ];
    default:
      return some(random, 3, file);
  }
}

function some<T>(random: Random, most: number, make: () => T): T[] {
  return Array.from({ length: random.below(most + 1) }, make);
}
