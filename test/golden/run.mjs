// Golden runs: plays the scenarios against built programs and compares everything that they sent and wrote.
//   node test/golden/run.mjs --a <bin> --b <bin> [--only <pattern>]   compare two builds, line by line
//   node test/golden/run.mjs                                          compare bin/portcullis with digests.json
//   node test/golden/run.mjs --write                                  accept what bin/portcullis does
//   --keep <directory>   also write each recording there
//   --ignore <pattern>   leave out what matches, for a difference that is meant
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { digest, fullDigest } from './digest.mjs';
import { play } from './play.mjs';
import { SCENARIOS } from './scenarios.mjs';

const FILE = path.join(import.meta.dirname, 'digests.json');
/** Things that happen at the same time may come in another order: a difference counts when it stays. */
const ATTEMPTS = 3;
const { values } = parseArgs({
  options: {
    a: { type: 'string' },
    b: { type: 'string' },
    only: { type: 'string' },
    write: { type: 'boolean' },
    keep: { type: 'string' },
    ignore: { type: 'string' },
  },
});
const own = path.join(import.meta.dirname, '../../bin/portcullis');
const digests = JSON.parse(readFileSync(FILE, 'utf8'));
const names = Object.keys(values.a === undefined ? digests : SCENARIOS).filter((name) =>
  new RegExp(values.only ?? '').test(name),
);
let differing = 0;
for (const name of names) {
  if (values.write) {
    digests[name] = digest(await record(own, name));
    continue;
  }
  const problem = values.a === undefined ? await againstDigest(name) : await againstBuild(name);
  if (problem === undefined) continue;
  differing++;
  process.stdout.write(`${name} differs\n${problem}\n`);
}
if (values.write) {
  writeFileSync(FILE, `${JSON.stringify(digests, null, 2)}\n`);
  process.stdout.write(`wrote the digests of ${names.length} scenarios\n`);
} else process.stdout.write(`${names.length - differing} of ${names.length} scenarios agree\n`);
process.exitCode = differing === 0 ? 0 : 1;

async function record(program, name) {
  const recorded = await play(path.resolve(program), SCENARIOS[name]);
  const lines = recorded.map((line) =>
    values.ignore === undefined ? line : line.replace(new RegExp(values.ignore, 'g'), ''),
  );
  if (values.keep !== undefined) {
    mkdirSync(values.keep, { recursive: true });
    writeFileSync(path.join(values.keep, `${name}.txt`), `${lines.join('\n')}\n`);
  }
  return lines;
}

async function againstDigest(name) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++)
    if (digest(await record(own, name)) === digests[name]) return undefined;
  return '  its digest is another; --a and --b show the lines, --write accepts them';
}

async function againstBuild(name) {
  let shown;
  const seen = { a: [], b: [] };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    for (const side of ['a', 'b']) seen[side].push(await record(values[side], name));
    const b = new Set(seen.b.map(fullDigest));
    if (seen.a.some((lines) => b.has(fullDigest(lines)))) return undefined;
    shown ??= difference(seen.a[0], seen.b[0]);
  }
  return shown;
}

/** The lines that only one side has, each from a little before where it parts from its counterpart. */
function difference(a, b) {
  const only = (mine, others) => {
    const left = new Map();
    for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
    return mine.filter((line) => {
      const count = left.get(line) ?? 0;
      left.set(line, count - 1);
      return count <= 0;
    });
  };
  const [gone, come] = [only(a, b), only(b, a)];
  if (gone.length === 0 && come.length === 0) return '  the same lines in another order';
  return Array.from({ length: Math.min(6, Math.max(gone.length, come.length)) }, (_, index) => {
    const [left = '', right = ''] = [gone[index], come[index]];
    let at = 0;
    while (at < left.length && left[at] === right[at]) at++;
    const from = Math.max(0, at - 60);
    return `  a: ${left.slice(from, at + 160)}\n  b: ${right.slice(from, at + 160)}`;
  }).join('\n');
}
