import { readFileSync } from 'node:fs';
import { messageOf, PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import {
  type HookTestReport,
  type HookText,
  seconds,
  type TestedHook,
} from '../../project/hooks/hook-test.js';
import type { HookEventName } from '../../protocol/hooks/hook-events.js';
import { readPiped } from '../stdin.js';

/** Reads input fields for hooks from a file or from standard input (`-`). */
export async function readPayload(
  place: string | undefined,
  event: HookEventName,
  warn: (text: string) => void,
): Promise<Readonly<Record<string, unknown>>> {
  if (place === undefined) return {};
  const name = place === '-' ? 'standard input' : visible(place);
  const usageError = (problem: string): PortcullisError =>
    new PortcullisError('usage', `--payload: ${name} ${problem}`, {
      remedy: 'give a JSON object of input fields, as docs/reference/hooks.md lists them',
    });
  let text: string | undefined;
  try {
    text =
      place === '-'
        ? await readPiped(process, { optional: false, warn })
        : readFileSync(place, 'utf8');
  } catch (thrown) {
    throw usageError(`cannot be read: ${messageOf(thrown)}`);
  }
  const parsed = parseJson(text ?? '');
  if (!parsed.ok) throw usageError(`is not JSON: ${parsed.error}`);
  if (!isRecord(parsed.value)) throw usageError('is not a JSON object');
  const { hook_event_name: named = event } = parsed.value;
  if (named === event) return parsed.value;
  throw usageError(`was recorded for ${visible(String(named))}, not for ${event}`);
}

/** Formats the report of a test. */
export function hookTestText(report: HookTestReport): string {
  const { event, matched, asked, notAsked, outcome, notices, notes, variables } = report;
  const count = asked.filter(({ round }) => round === 1).length;
  const asks =
    count === 0 ? 'no hook is asked' : `${count} ${count === 1 ? 'hook' : 'hooks'} asked`;
  const input = outcome.input === undefined ? [] : [JSON.stringify(outcome.input)];
  const lines = [
    `${[event, ...matched.slice(0, 1)].join(', ')}: ${asks}`,
    ...notes.map((note) => `note: ${note}`),
    ...asked.flatMap((hook) => ['', ...hookLines(hook)]),
    ...section(
      'Not asked',
      notAsked.map(({ hook, why }) => `${visible(hook)}: ${visible(why)}`),
    ),
    ...section('Notices for the user', notices.map(visible)),
    ...section('Variables left for shell commands', variables),
    ...(count === 0 ? [] : ['', `Outcome: ${block(outcome.text, '  ')}`]),
    ...input.map((text) => `  with the input ${block(text, '  ')}`),
    ...outcome.forModel.map((text) => `  the model reads: ${block(text, '    ')}`),
  ];
  return `${lines.join('\n')}\n`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

function hookLines(hook: TestedHook): readonly string[] {
  const { updatedInput, ignored } = hook;
  const again = hook.round === 1 ? '' : ', asked again about the new input';
  const exit = typeof hook.exitCode === 'number' ? `, exit code ${hook.exitCode}` : '';
  const input = updatedInput === undefined ? [] : [JSON.stringify(updatedInput)];
  return [
    `  ${visible(hook.hook)}${again}`,
    `    ${verdictText(hook)} (${hook.ms} ms of ${seconds(hook.limitMs)}${exit})`,
    ...hook.texts.map(textLine),
    ...input.map((text) => `    new input: ${block(text, '      ')}`),
    ...(ignored.length === 0
      ? []
      : [`    without effect at this event: ${ignored.map(visible).join(', ')}`]),
  ];
}

function verdictText({ verdict, failure, failureMeans, background, error }: TestedHook): string {
  if (failure !== undefined) {
    const then = failureMeans === 'refuses' ? 'its failure refuses' : 'its failure blocks nothing';
    return `FAILED, ${failure.cause}: ${visible(failure.message)}; ${then}`;
  }
  if (background) return 'runs in the background and decides nothing';
  const said = verdict === null || verdict === 'none' ? 'no opinion' : verdict;
  return error === undefined ? said : `${said}, and it reports an error`;
}

const READERS = { model: 'the model', user: 'the user', none: 'discarded' } as const;

function textLine({ what, to, how, text }: HookText): string {
  return `    ${what} → ${READERS[to]}, ${how}: ${block(text, '      ')}`;
}

const PREVIEW_LIMIT = 500;

/** Indents further lines. The JSON has the whole text. */
function block(text: string, indent: string): string {
  const trimmed = text.trim();
  const cut =
    trimmed.length <= PREVIEW_LIMIT ? trimmed : `${sliceWhole(trimmed, 0, PREVIEW_LIMIT)}…`;
  return cut.split('\n').map(visible).join(`\n${indent}`);
}
