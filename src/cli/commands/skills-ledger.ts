import { nodeFileSystem } from '../../env/node-fs.js';
import { displayPath, stateDirectory } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import { readSkillLedger } from '../../skills/ledger.js';
import { type SkillRecord, skippedOf } from '../../skills/ledger-record.js';
import { table } from '../../util/table.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { recordData, shortfalls } from './skills-text.js';

export const USAGE = 'portcullis skills ledger [name] [--json]';

/** Shows what became of skills in the sessions of this user: how often offered, chosen and skipped. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches } = readArguments(argv, { usage: USAGE, switches: ['json'] });
  const [name, ...more] = words;
  if (more.length > 0) {
    throw new PortcullisError('usage', 'name one skill or none', { remedy: `usage: ${USAGE}` });
  }
  const ledger = await readSkillLedger({
    fs: nodeFileSystem,
    stateDirectory: stateDirectory(process.env),
  });
  if (!ledger.ok) {
    throw new PortcullisError('io', `the ledger of skills cannot be read: ${ledger.error}`, {
      remedy: 'correct it; otherwise the next session puts it aside and begins anew',
    });
  }
  const wanted = name?.replace(/^\//, '');
  const records = ledger.value.filter((one) => wanted === undefined || one.name === wanted);
  output.out(switches.has('json') ? asJson(records) : text(records, wanted));
  return EXIT.done;
}

function asJson(records: readonly SkillRecord[]): string {
  const skills = records.map((record) => ({
    name: record.name,
    file: record.file,
    ...recordData(record),
  }));
  return `${JSON.stringify({ skills }, null, 2)}\n`;
}

function text(records: readonly SkillRecord[], wanted: string | undefined): string {
  if (records.length === 0) {
    const what = wanted === undefined ? 'a skill' : `a skill ${visible(wanted)}`;
    return `No session has told of ${what} yet.\n`;
  }
  const head = ['offered', 'by model', 'by people', 'skipped', 'last', 'skill'];
  const cwd = process.cwd();
  const rows = records.map((record) => [
    String(record.offered),
    String(record.model),
    String(record.person),
    String(skippedOf(record)),
    visible(record.last),
    [
      `${visible(record.name)}  ${visible(displayPath(record.file, cwd))}`,
      ...shortfalls(record),
    ].join('; '),
  ]);
  return `${table([head, ...rows])}\n`;
}
