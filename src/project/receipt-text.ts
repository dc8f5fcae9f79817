import type { Receipt, TraceStep } from '../protocol/permissions.js';
import { visible } from '../util/visible.js';
import { formatCall } from './policy-call.js';

const LONGEST = 300;

/** A receipt as people read it: what, why, and what each guard said. */
export function receiptText(receipt: Receipt, decision: string = WORDS[receipt.decision]): string {
  const { tool, input, agent, mode, command } = receipt;
  const call = short(formatCall({ tool, input: recordOf(input) }));
  const facts = [
    receipt.time,
    receipt.sessionId === undefined ? undefined : `session ${receipt.sessionId}`,
    `agent ${agent}`,
    `mode ${mode}`,
    receipt.ms === undefined ? undefined : milliseconds(receipt.ms),
  ].filter((fact) => fact !== undefined);
  const understood =
    command === undefined || command === recordOf(input).command
      ? []
      : [`understood as  ${short(command.split('\n').join(' ; '))}`];
  return [
    `${decision}  ${call}`,
    `because  ${short(receipt.reason)} (${receipt.decidedBy})`,
    ...understood,
    ...effectLines(receipt.effects),
    facts.join(' · '),
    '',
    ...traceLines(receipt.trace),
    '',
  ].join('\n');
}

const WORDS: Readonly<Record<Receipt['decision'], string>> = {
  allow: 'allowed',
  deny: 'refused',
  defer: 'deferred',
};

/** What it did although it was not to. */
function effectLines(effects: Receipt['effects']): readonly string[] {
  if (effects === undefined) return [];
  const { changed, violated, rolledBack } = effects;
  const end =
    rolledBack === undefined ? '' : rolledBack ? ', undone' : ', not or not wholly undone';
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
  return flat.length <= LONGEST ? flat : `${flat.slice(0, LONGEST - 1)}…`;
}

function recordOf(input: unknown): Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
    ? (input as Record<string, unknown>)
    : {};
}
