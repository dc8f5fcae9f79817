import { type LinearPattern, linearPattern } from '../../lib/patterns/linear-pattern.js';
import { headAndTail } from '../../lib/text/truncate.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import { unknownShell } from '../tasks/task-stop.js';
import type { Tool, ToolOutput } from '../tool.js';
import description from './bash-output.md';
import type { BackgroundShell, BackgroundShells } from './shells.js';

const OUTPUT_CAP = 30_000;
/** Of a line, what the expression of a filter sees. */
const FILTERED_CHARS = 2_000;
const FILTER_MS = 500;

export function bashOutputTool(deps: {
  readonly shells: BackgroundShells;
}): Tool<ToolInputs['BashOutput']> {
  return defineTool({
    name: 'BashOutput',
    aliases: ['TaskOutput'],
    kind: 'control',
    description,
    subject: (input) => ({ paths: [], summary: `output of ${input.task_id}` }),
    concurrencySafe: () => true,
    run: async (input, { agent }) => readOutput(deps.shells, input, agent.id),
  });
}

function readOutput(
  shells: BackgroundShells,
  input: ToolInputs['BashOutput'],
  reader: string,
): ToolOutput {
  // Before the output is taken: a mistake in the expression must not cost it.
  const filter =
    input.filter === undefined ? undefined : linearPattern(input.filter, { ignoreCase: false });
  if (filter?.ok === false) return refusedFilter(String(input.filter), filter.error);
  const read = shells.read(input.task_id, reader);
  if (read === undefined) return unknownShell(shells, input.task_id);
  const { shell, dropped } = read;
  const notes: string[] = [];
  const text = filter === undefined ? read.text : filtered(read.text, filter.value, notes);
  if (dropped > 0) notes.push(`${dropped} earlier characters are only in ${shell.outputFile}.`);
  const shown = headAndTail(text.replace(/\n+$/, ''), OUTPUT_CAP);
  const status = statusLine(shell);
  return {
    content: [status, ...notes, shown === '' ? '(no new output)' : shown].join('\n'),
    structured: {
      task_id: shell.id,
      status: shell.status,
      exitCode: shell.exitCode,
      stdout: shown,
      outputFile: shell.outputFile,
    },
  };
}

/** Lines that match, as far as the time for all of them lasts. */
function filtered(text: string, filter: LinearPattern, notes: string[]): string {
  const deadline = performance.now() + FILTER_MS;
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    if (performance.now() > deadline) {
      notes.push('The filter was too slow; later lines were not looked at.');
      break;
    }
    if (filter.test(line.slice(0, FILTERED_CHARS))) lines.push(line);
  }
  return lines.join('\n');
}

function refusedFilter(filter: string, reason: string): ToolOutput {
  return {
    content: `The filter ${JSON.stringify(filter)} cannot be used: ${reason}. Nothing was read.`,
    isError: true,
  };
}

/** `b1234abcd: failed, exit code 2 (ended after 30 minutes)` */
export function statusLine(shell: BackgroundShell): string {
  const code = shell.exitCode === null ? '' : `, exit code ${shell.exitCode}`;
  const signal = shell.signal === null ? '' : `, ${shell.signal}`;
  const note = shell.note === undefined ? '' : ` (${shell.note})`;
  return `${shell.id}: ${shell.status.replace('_', ' ')}${code}${signal}${note}`;
}
