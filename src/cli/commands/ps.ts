import { stateDirectory } from '../../env/paths.js';
import { type Reaped, reapOrphans } from '../../env/process-reap.js';
import { type ListedChild, listChildren } from '../../env/process-registry.js';
import { PortcullisError } from '../../errors.js';
import { sliceWhole } from '../../util/truncate.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';

export const USAGE = 'portcullis ps [--json] [--reap]';

/** The children of every program of ours that runs, and those of programs that are gone. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches } = readArguments(argv, { usage: USAGE, switches: ['json', 'reap'] });
  if (words.length > 0) {
    throw new PortcullisError('usage', `ps takes no "${visible(words[0] ?? '')}"`, {
      remedy: `usage: ${USAGE}`,
    });
  }
  const state = stateDirectory(process.env);
  const asJson = switches.has('json');
  return switches.has('reap')
    ? report(await reapOrphans(state), output, asJson)
    : list(listChildren(state), output, asJson);
}

function list(children: readonly ListedChild[], output: Output, asJson: boolean): number {
  const rows = children.map(rowOf);
  if (asJson) output.out(`${JSON.stringify(rows, null, 2)}\n`);
  else if (rows.length === 0) output.out('No child processes run.\n');
  else output.out(`${table(rows)}${orphanHint(rows)}`);
  return EXIT.done;
}

/** One child, for machines; the text is made of the same. */
interface Row {
  readonly label: string;
  readonly kind: ListedChild['kind'];
  readonly pid: number;
  readonly group: number;
  readonly ageMs: number;
  readonly ownerPid: number;
  readonly sessionId: string | null;
  readonly command: string | null;
  /** The program that started it is gone. */
  readonly orphan: boolean;
  /** It has ended itself; what it started still runs. */
  readonly leftBehind: boolean;
}

function rowOf(child: ListedChild): Row {
  return {
    label: child.label,
    kind: child.kind,
    pid: child.pid,
    group: child.pid,
    ageMs: Math.max(0, Date.now() - child.since),
    ownerPid: child.ownerPid,
    sessionId: child.sessionId ?? null,
    command: child.command ?? null,
    orphan: !child.ownerAlive,
    leftBehind: child.leftBehind === true,
  };
}

const HEAD = ['PID', 'KIND', 'AGE', 'OWNER', 'SESSION', 'LABEL', 'COMMAND'] as const;
const SHOWN = 60;

function table(rows: readonly Row[]): string {
  const lines = [[...HEAD], ...rows.map(cells)];
  const widths = HEAD.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const text = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${text.join('\n')}\n`;
}

function cells(row: Row): string[] {
  const owner = row.orphan ? `${row.ownerPid} (gone)` : String(row.ownerPid);
  const label = row.leftBehind ? `${row.label} (left behind)` : row.label;
  return [
    String(row.pid),
    row.orphan ? `${row.kind} ORPHAN` : row.kind,
    ageText(row.ageMs),
    owner,
    visible(row.sessionId?.slice(0, 8) ?? '-'),
    visible(sliceWhole(label, 0, SHOWN)),
    visible(sliceWhole(row.command ?? '-', 0, SHOWN)),
  ];
}

function ageText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${seconds % 60}s`;
  return `${Math.floor(minutes / 60)}h${minutes % 60}m`;
}

function orphanHint(rows: readonly Row[]): string {
  const count = rows.filter(({ orphan }) => orphan).length;
  if (count === 0) return '';
  return `\n${count} of them ${count === 1 ? 'belongs' : 'belong'} to a program that is gone: portcullis ps --reap\n`;
}

const OUTCOMES: Readonly<Record<Reaped['outcome'], string>> = {
  ended: 'ended',
  'still-runs': 'still runs, though it was killed',
  'not-provably-ours': 'left alone: nothing proves that it is the process we started',
};

function report(reaped: readonly Reaped[], output: Output, asJson: boolean): number {
  if (asJson) {
    const rows = reaped.map(({ child, outcome }) => ({ ...rowOf(child), outcome }));
    output.out(`${JSON.stringify(rows, null, 2)}\n`);
  } else if (reaped.length === 0) output.out('No orphans.\n');
  else {
    for (const { child, outcome } of reaped) {
      output.out(`${child.pid} ${visible(child.label)}: ${OUTCOMES[outcome]}\n`);
    }
  }
  return reaped.every(({ outcome }) => outcome === 'ended') ? EXIT.done : EXIT.error;
}
