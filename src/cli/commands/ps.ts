import { table } from '../../lib/table.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import { stateDirectory } from '../../platform/fs/paths.js';
import { type ListedChild, listChildren } from '../../platform/process/process-registry.js';
import type { CommandCall, CommandSpec } from '../command.js';
import { EXIT } from '../exit-code.js';
import { type ReapResult, reapOrphans } from '../reap-orphans.js';
import { JSON_OPTION, printJson } from './project-call.js';

export const command: CommandSpec = {
  summary: 'List the child processes of every running session.',
  options: [{ flags: '--reap', description: 'End processes whose session is gone.' }, JSON_OPTION],
  async run(call) {
    const state = stateDirectory(process.env);
    if (call.options.reap === true) return report(call, await reapOrphans(state));
    const rows = listChildren(state).map(rowOf);
    if (call.options.json === true) printJson(call, rows);
    else if (rows.length === 0) call.output.out('No child processes run.\n');
    else call.output.out(`${table([HEAD, ...rows.map(cells)])}\n${orphanHint(rows)}`);
    return EXIT.done;
  },
};

/** One child process, as JSON has it. */
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

const HEAD = ['PID', 'KIND', 'AGE', 'OWNER', 'SESSION', 'LABEL', 'COMMAND'];
const MAX_LENGTH = 60;

function cells(row: Row): string[] {
  const owner = row.orphan ? `${row.ownerPid} (gone)` : String(row.ownerPid);
  const label = row.leftBehind ? `${row.label} (left behind)` : row.label;
  return [
    String(row.pid),
    row.orphan ? `${row.kind} ORPHAN` : row.kind,
    ageText(row.ageMs),
    owner,
    visible(row.sessionId?.slice(0, 8) ?? '-'),
    visible(sliceWhole(label, 0, MAX_LENGTH)),
    visible(sliceWhole(row.command ?? '-', 0, MAX_LENGTH)),
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

const OUTCOMES: Readonly<Record<ReapResult['outcome'], string>> = {
  ended: 'ended',
  'still-runs': 'still runs, though it was killed',
  'not-provably-ours': 'left alone: nothing proves that it is the process we started',
};

function report(call: CommandCall, reaped: readonly ReapResult[]): number {
  if (call.options.json === true) {
    printJson(
      call,
      reaped.map(({ child, outcome }) => ({ ...rowOf(child), outcome })),
    );
  } else if (reaped.length === 0) call.output.out('No orphans.\n');
  else {
    for (const { child, outcome } of reaped) {
      call.output.out(`${child.pid} ${visible(child.label)}: ${OUTCOMES[outcome]}\n`);
    }
  }
  return reaped.every(({ outcome }) => outcome === 'ended') ? EXIT.done : EXIT.error;
}
