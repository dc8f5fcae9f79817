import type { AndOr, PipelineNode } from 'unbash';
import { isRecord } from '../../lib/own.js';
import { head, headAndTail } from '../../lib/text/truncate.js';
import type { ProcessResult } from '../../platform/process/process.js';
import type { ToolOutput } from '../tool.js';

/** A file that holds output too long to show. */
export interface SavedOutput {
  readonly path: string;
  readonly bytes: number;
}

export interface BashOutcome {
  readonly command: string;
  readonly result: ProcessResult;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** Characters of a success that are shown whole. */
  readonly inlineCap: number;
  /** Sentences for the end: where the shell is now, what still runs. */
  readonly notes: readonly string[];
  /** Puts the text into a file, unless the supervisor already did; undefined when that failed. */
  save(text: string): Promise<SavedOutput | undefined>;
}

const PREVIEW_CAP = 2000;
const FAILURE_CAP = 10_000;
const NO_OUTPUT = '(no output)';

/** What the model reads of a command that has ended, and the same as data. */
export async function bashResult(outcome: BashOutcome): Promise<ToolOutput> {
  const { result } = outcome;
  const failure = failureLine(outcome);
  const meaning =
    failure !== undefined && result.exitCode !== null && isPlainExit(result)
      ? await meaningOf(outcome, result.exitCode)
      : undefined;
  const isError = failure !== undefined && meaning === undefined;
  const text = trimmed(result.stdout);
  const tooLong = result.truncated || text.length > (isError ? FAILURE_CAP : outcome.inlineCap);
  const saved = tooLong ? await outcome.save(result.stdout) : undefined;
  const shown = shownText({ text, saved, tooLong, isError, inlineCap: outcome.inlineCap });
  const lines = [
    ...(isError ? [failure] : []),
    ...(shown === '' ? [] : [shown]),
    ...(meaning === undefined ? [] : [`(${meaning}; exit code ${result.exitCode})`]),
    ...outcome.notes,
  ];
  return {
    content: lines.length === 0 ? NO_OUTPUT : lines.join('\n'),
    ...(isError && { isError }),
    ...(saved && { files: [saved.path] }),
    structured: {
      stdout: shown,
      stderr: '',
      interrupted: result.aborted,
      isImage: false,
      ...(result.timedOut && { timedOutAfterMs: outcome.timeoutMs }),
      ...(meaning !== undefined && { returnCodeInterpretation: meaning }),
      ...(saved && { persistedOutputPath: saved.path, persistedOutputSize: saved.bytes }),
    },
  };
}

/** The same text for a structured result that a hook or host provided. */
export function presentBash(structured: unknown): string | undefined {
  if (!isRecord(structured)) return undefined;
  const { stdout, stderr = '', interrupted = false } = structured;
  const { backgroundTaskId: task, returnCodeInterpretation: meaning } = structured;
  if (typeof stdout !== 'string' || typeof stderr !== 'string') return undefined;
  if (typeof interrupted !== 'boolean') return undefined;
  const lines = [
    ...(interrupted ? ['The command was interrupted.'] : []),
    ...(typeof task === 'string' ? [`Running in the background as ${task}.`] : []),
    ...[trimmed(stdout), trimmed(stderr)].filter((text) => text !== ''),
    ...(typeof meaning === 'string' ? [`(${meaning})`] : []),
  ];
  return lines.length === 0 ? NO_OUTPUT : lines.join('\n');
}

/** Undefined for a command that ran to its end and said that all is well. */
function failureLine(outcome: BashOutcome): string | undefined {
  const { result } = outcome;
  if (result.aborted) return 'The command was interrupted and ended with everything it started.';
  if (result.timedOut) return timeoutLine(outcome);
  if (result.outputLimitHit) return 'The command was ended: it wrote more output than can be kept.';
  if (result.signal !== null) return `The command was ended by ${result.signal}.`;
  // fail-closed: neither a code nor a signal is no success.
  if (result.exitCode === null) return 'The command ended without an exit code.';
  if (result.exitCode === 0) return undefined;
  const signal = signalOfExit(result.exitCode);
  const line = `Exit code ${result.exitCode}`;
  return signal === undefined ? line : `${line}\n(a command in it was ended by ${signal})`;
}

function timeoutLine(outcome: BashOutcome): string {
  const seconds = outcome.timeoutMs / 1000;
  const longer =
    outcome.timeoutMs < outcome.maxTimeoutMs
      ? `give a longer \`timeout\` (at most ${outcome.maxTimeoutMs}) or `
      : '';
  return `The command timed out after ${seconds} s and was ended with everything it started. If it needs longer, ${longer}set \`run_in_background\`.`;
}

function isPlainExit(result: ProcessResult): boolean {
  return !result.aborted && !result.timedOut && !result.outputLimitHit && result.signal === null;
}

async function meaningOf(outcome: BashOutcome, exitCode: number): Promise<string | undefined> {
  // The code may be that of a `cd` before it.
  if (/: (cd|pushd): /.test(outcome.result.stdout)) return undefined;
  return benignExit(outcome.command, exitCode);
}

function shownText(parts: {
  readonly text: string;
  readonly saved: SavedOutput | undefined;
  readonly tooLong: boolean;
  readonly isError: boolean;
  readonly inlineCap: number;
}): string {
  const { text, saved } = parts;
  if (!parts.tooLong) return text;
  if (parts.isError) {
    const cut = headAndTail(text, FAILURE_CAP);
    return saved === undefined
      ? cut
      : `${cut}\nWhole output (${sizeText(saved.bytes)}): ${saved.path}`;
  }
  if (saved === undefined) return headAndTail(text, parts.inlineCap);
  return `The output is long (${sizeText(saved.bytes)}) and was saved to ${saved.path}. It starts with:\n${head(text, PREVIEW_CAP)}`;
}

/** Without the newlines at the end, which say nothing. */
function trimmed(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end--;
  return text.slice(0, end);
}

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/**
 * What exit code 1 means when the last command of a line uses it for an answer rather than for a
 * failure. Undefined: the code is a failure, also when that cannot be told for sure.
 */
export async function benignExit(command: string, exitCode: number): Promise<string | undefined> {
  if (exitCode !== 1) return undefined;
  const { parse } = await import('unbash');
  const { commands, errors = [] } = parse(command);
  const last = commands.at(-1);
  if (last === undefined || errors.length > 0 || last.background === true) return undefined;
  const node = decidingCommand(last.command);
  if (node?.type === 'TestCommand') return MEANINGS.get('[[');
  if (node?.type !== 'Command' || node.redirects.some(({ type }) => type === 'HereDoc')) {
    return undefined;
  }
  const words = [node.name, ...node.args].map((word) => (word?.type === 'Word' ? word.value : ''));
  const [program = '', ...args] = words[0] === 'command' ? words.slice(1) : words;
  const name = program.slice(program.lastIndexOf('/') + 1);
  return name === 'git' ? gitMeaning(args) : MEANINGS.get(name);
}

/** The signal that a shell's exit code stands for, by the usual numbering. */
export function signalOfExit(exitCode: number): string | undefined {
  return SIGNALS[exitCode - 129];
}

/** By their numbers, from 1 on. Those that no two systems number alike are left out. */
const SIGNALS: readonly (string | undefined)[] = [
  ...[
    'SIGHUP',
    'SIGINT',
    'SIGQUIT',
    'SIGILL',
    'SIGTRAP',
    'SIGABRT',
    undefined,
    'SIGFPE',
    'SIGKILL',
  ],
  ...[undefined, 'SIGSEGV', undefined, 'SIGPIPE', 'SIGALRM', 'SIGTERM'],
];

const MEANINGS: ReadonlyMap<string, string> = new Map([
  ['grep', 'No matches found'],
  ['egrep', 'No matches found'],
  ['fgrep', 'No matches found'],
  ['rg', 'No matches found'],
  ['find', 'Some directories were inaccessible'],
  ['diff', 'Files differ'],
  ['cmp', 'Files differ'],
  ['test', 'Condition is false'],
  ['[', 'Condition is false'],
  ['[[', 'Condition is false'],
]);

/** Commands that may stand before `&&`: their own failure is seen by what they print. */
const PREPARATION = /^(cd|pushd|export|set|unset|true|:|echo|printf|source|\.)$/;

/** The command that decided the exit code. Undefined where that cannot be told for sure. */
function decidingCommand(node: PipelineNode | AndOr): PipelineNode | undefined {
  if (node.type !== 'Pipeline' && node.type !== 'AndOr') return node;
  const last = node.commands.at(-1);
  if (last === undefined || node.type === 'Pipeline') return last && decidingCommand(last);
  // With `&&` the code may be that of an earlier command.
  for (let index = node.operators.length - 1; node.operators[index] === '&&'; index--) {
    const before = node.commands[index];
    const isPreparation = before?.type === 'Command' && PREPARATION.test(before.name?.value ?? '');
    if (!isPreparation) return undefined;
  }
  return decidingCommand(last);
}

function gitMeaning(args: readonly string[]): string | undefined {
  let index = 0;
  while (args[index]?.startsWith('-'))
    index += args[index] === '-C' || args[index] === '-c' ? 2 : 1;
  if (args[index] === 'diff') return 'Files differ';
  return args[index] === 'grep' ? 'No matches found' : undefined;
}
