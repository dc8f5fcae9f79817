import { isRecord } from '../lib/own.js';
import { visible } from '../lib/text/visible.js';
import type { Receipt, TraceStep } from '../protocol/permissions.js';
import { formatCall } from './policy/policy-call.js';

const PREVIEW_LIMIT = 300;

/** Formats a receipt: the call, why it was decided so, and what each guard said. */
export function receiptText(receipt: Receipt, decision: string = VERBS[receipt.decision]): string {
  const { tool, agent, mode, command, time, sessionId, ms } = receipt;
  const input = isRecord(receipt.input) ? receipt.input : {};
  const session = sessionId === undefined ? undefined : `session ${sessionId}`;
  const took = ms === undefined ? undefined : milliseconds(ms);
  const facts = [time, session, `agent ${agent}`, `mode ${mode}`, took];
  const parsed =
    command === undefined || command === input.command
      ? []
      : [`understood as  ${short(command.split('\n').join(' ; '))}`];
  return [
    `${decision}  ${short(formatCall({ tool, input }))}`,
    `because  ${short(receipt.reason)} (${receipt.decidedBy})`,
    ...parsed,
    ...runLines(receipt.runs, input.command),
    ...effectLines(receipt.effects),
    facts.filter((fact) => fact !== undefined).join(' · '),
    '',
    ...traceLines(receipt.trace),
    '',
  ].join('\n');
}

const VERBS: Readonly<Record<Receipt['decision'], string>> = {
  allow: 'allowed',
  deny: 'refused',
  defer: 'deferred',
};

/** The canonical form of shell code, where it is more than the text with quotes around plain words. */
function runLines(runs: string | undefined, command: unknown): readonly string[] {
  const unquoted = runs?.replace(/'([\w.,:/@%+=-]+)'/g, '$1');
  return runs === undefined || unquoted === command ? [] : [`runs as  ${short(runs)}`];
}

/** Effects of the call that a rule forbids. */
function effectLines(effects: Receipt['effects']): readonly string[] {
  if (effects === undefined) return [];
  const { changed, violated, rolledBack } = effects;
  const end = rolledBack === undefined ? '' : rolledBack ? ', undone' : ', not completely undone';
  return [`but it was ${short(violated)} and changed ${short(changed.join(', '))}${end}`];
}

function traceLines(trace: readonly TraceStep[]): readonly string[] {
  const width = Math.max(0, ...trace.map(({ guard }) => guard.length));
  return trace.map((step) => {
    const said = SAID[step.decision] ?? step.decision;
    const why = whyOf(step);
    const failed = step.failure === undefined ? '' : ` FAILED: ${short(step.failure)}`;
    const time = step.ms === undefined ? '' : milliseconds(step.ms);
    return `  ${step.guard.padEnd(width)}  ${said.padEnd(9)}  ${time.padStart(8)}  ${why}${failed}`.trimEnd();
  });
}

/** Reasons mostly name their rule, and sources are rules with their place: each is shown once. */
function whyOf({ source = '', reason = '' }: TraceStep): string {
  if (reason.includes(source)) return short(reason);
  return source.startsWith(reason) ? short(source) : `${short(reason)} · ${short(source)}`;
}

const SAID: Readonly<Record<string, string>> = {
  none: '–',
  pass: 'open',
  allow: 'allows',
  ask: 'asks',
  defer: 'defers',
  deny: 'denies',
};

function milliseconds(ms: number): string {
  return `${ms < 10 ? ms.toFixed(2) : Math.round(ms)} ms`;
}

/** What a model or a file wrote must not reach the terminal as control characters. */
function short(text: string): string {
  const flat = visible(text);
  return flat.length <= PREVIEW_LIMIT ? flat : `${flat.slice(0, PREVIEW_LIMIT - 1)}…`;
}
