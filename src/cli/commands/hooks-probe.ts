import { PortcullisError } from '../../errors.js';
import { seconds } from '../../hooks/hook-limit.js';
import { type ProbedHook, type ProbeReport, probeFailed } from '../../hooks/probe.js';
import { table } from '../../util/table.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { openBench } from './hooks-bench.js';

export const USAGE = 'portcullis hooks probe [--all] [--trust] [--settings F] [--json]';

/**
 * Asks every guard once, about a sample that is marked as a probe, and shows whether it gave a verdict
 * within its limit. Exit code 1: some guard did not.
 */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches, values } = readArguments(argv, {
    usage: USAGE,
    switches: ['all', 'json', 'trust'],
    values: ['settings'],
  });
  if (words.length > 0) {
    const message = `hooks probe does not understand "${visible(words[0] ?? '')}"`;
    throw new PortcullisError('usage', message, { remedy: `usage: ${USAGE}` });
  }
  const cwd = process.cwd();
  const options = { cwd, env: process.env, trust: switches.has('trust') };
  const bench = await openBench({ ...options, settings: values.get('settings') }, output);
  const over = new AbortController();
  const interrupt = (): void => over.abort(new Error('interrupted'));
  process.once('SIGINT', interrupt);
  try {
    const report = await bench.probe({
      cwd,
      signal: over.signal,
      mode: bench.hands.permissions.mode(),
      all: switches.has('all'),
    });
    output.out(switches.has('json') ? jsonOf(report) : textOf(report));
    if (over.signal.aborted) return EXIT.interrupted;
    return report.probed.some(probeFailed) ? EXIT.error : EXIT.done;
  } finally {
    process.off('SIGINT', interrupt);
    await bench.close();
  }
}

function jsonOf({ probed, skipped }: ProbeReport): string {
  const data = {
    answered: probed.every((one) => !probeFailed(one)),
    probed: probed.map(({ hook, ms, limitMs, decision, failure, complaint }) => ({
      event: hook.event,
      hook: hook.label,
      kind: hook.handler.type,
      ms: Math.round(ms),
      limitMs,
      verdict: failure === undefined ? decision : null,
      ...(failure === undefined ? {} : { failure }),
      ...(complaint === undefined ? {} : { error: complaint }),
    })),
    skipped: skipped.map(({ hook, why }) => ({ event: hook.event, hook: hook.label, why })),
  };
  return `${JSON.stringify(data, null, 2)}\n`;
}

function textOf({ probed, skipped }: ProbeReport): string {
  const failed = probed.filter(probeFailed).length;
  const rows = probed.map((one) => [
    `${Math.round(one.ms)} ms`,
    `of ${seconds(one.limitMs)}`,
    verdictOf(one),
    `${one.hook.event}: ${visible(one.hook.label)}${probeFailed(one) ? `: ${visible(wordsOf(one))}` : ''}`,
  ]);
  const count =
    probed.length === 0
      ? 'There is no guard to probe.'
      : `${probed.length} probed, ${probed.length - failed} answered, ${failed} failed`;
  const left = skipped.map(
    ({ hook, why }) => `  ${hook.event}: ${visible(hook.label)}: ${visible(why)}\n`,
  );
  return [
    rows.length === 0 ? '' : `${table(rows)}\n`,
    `${count}\n`,
    left.length === 0 ? '' : `Not probed (--all probes those that ask others)\n${left.join('')}`,
  ].join('');
}

function verdictOf({ decision, failure, complaint }: ProbedHook): string {
  if (failure !== undefined) return `FAILED (${failure.cause})`;
  if (complaint !== undefined) return 'FAILED (error)';
  return decision === 'none' ? 'no opinion' : decision;
}

function wordsOf({ failure, complaint }: ProbedHook): string {
  return failure?.message ?? `exit code 1, which blocks nothing: ${complaint}`;
}
