import type { LoopEvent, SessionNews } from '../harness.js';
import { textOf } from '../protocol/content.js';
import { printable } from '../util/printable.js';
import { ellipsis } from '../util/truncate.js';

export interface RenderOptions {
  readonly colour: boolean;
  /** Longest line of a tool call or result. */
  readonly width: number;
}

/** What a person sees of a session, as plain lines. Undefined: nothing to show. */
export function createRenderer(
  options: RenderOptions,
): (event: LoopEvent | SessionNews) => string | undefined {
  const paint = (code: string, text: string): string =>
    options.colour ? `\u001b[${code}m${text}\u001b[0m` : text;
  const dim = (text: string): string => paint('2', text);
  const line = (text: string): string => {
    const flat = printable(text).replace(/\s+/g, ' ').trim();
    return ellipsis(flat, options.width);
  };
  return (event) => {
    switch (event.type) {
      case 'answer':
        return event.answer.message.content
          .map((block, index) => {
            if (block.type === 'text') return printable(event.display?.[index] ?? block.text);
            if (block.type === 'tool_use')
              return `${paint('36', `→ ${line(block.name)}`)} ${dim(line(subjectOf(block.input)))}`;
            return '';
          })
          .filter((text) => text !== '')
          .join('\n');
      case 'tool_result': {
        const { block } = event.result;
        const text = line(
          typeof block.content === 'string' ? block.content : textOf(block.content) || '(not text)',
        );
        return block.is_error === true ? paint('31', `  ✗ ${text}`) : dim(`  ✓ ${text}`);
      }
      case 'retry': {
        const { failure } = event.event;
        const reason = line(failure.message);
        return paint('33', `! ${reason}; ${printable(retryText(event.event))}`);
      }
      case 'notice':
        // The end of the turn says it.
        if (event.tag === 'prompt_blocked') return undefined;
        return paint(event.level === 'warning' ? '33' : '2', `! ${printable(event.text)}`);
      case 'compacting':
        return dim('summarising the conversation …');
      case 'compacted':
        return dim(`conversation summarised: ${event.preTokens} → ${event.postTokens} tokens`);
      case 'compaction_failed':
        return paint('33', `! the conversation could not be summarised: ${line(event.reason)}`);
      case 'writes_lost':
        return paint(
          '31',
          `! the transcript cannot be written (${event.code}): ${event.lost} lines are kept in memory only`,
        );
      case 'task_started': {
        const { agent } = event;
        const who = agent === undefined ? event.taskId : `${line(agent.type)} (${event.taskId})`;
        const where = agent?.background === false ? 'works' : 'runs in the background';
        return dim(`  ${who} ${where}: ${line(event.description)}`);
      }
      case 'task_finished':
        return dim(`  ${event.taskId} ${event.status}: ${line(event.summary)}`);
      case 'child': {
        if (event.event.type !== 'answer') return undefined;
        const { type, path } = event.agent;
        const calls = event.event.answer.message.content.flatMap((block) =>
          block.type === 'tool_use'
            ? [
                dim(
                  `  ${line(path.split('/').at(-1) ?? type)} → ${line(block.name)} ${line(subjectOf(block.input))}`,
                ),
              ]
            : [],
        );
        return calls.length === 0 ? undefined : calls.join('\n');
      }
      case 'inbox':
        return dim(
          event.state === 'asked'
            ? `  ${line(event.question.agent.path)} waits for an answer (${event.question.id}): ${line(event.question.tool)} ${line(event.question.summary)}`
            : `  ${event.question.id} ${event.state}`,
        );
      case 'config_changed':
        return dim(`settings changed: ${event.files.join(', ')}`);
      case 'mode':
        return dim(`mode: ${event.mode}`);
      case 'requesting':
      case 'stream':
      case 'block':
      case 'input':
      case 'state':
      case 'decision':
      case 'denied':
      case 'progress':
      case 'transcript':
      case 'hook_started':
      case 'hook_finished':
      case 'task_progress':
      case 'task_updated':
      case 'background_tasks':
        return undefined;
    }
  };
}

/** What follows a failed request of the model. The first time with what to do about it. */
export function retryText(event: Extract<LoopEvent, { type: 'retry' }>['event']): string {
  if (event.type === 'fallback') return `going on with ${event.to}`;
  const { attempt, maxRetries, delayMs, failure } = event;
  const remedy = attempt === 1 && failure.remedy !== undefined ? ` · ${failure.remedy}` : '';
  return `trying again in ${(delayMs / 1000).toFixed(1)} s (${attempt} of ${maxRetries})${remedy}`;
}

function subjectOf(input: Readonly<Record<string, unknown>>): string {
  const main = [
    'command',
    'file_path',
    'notebook_path',
    'pattern',
    'url',
    'subject',
    'task_id',
  ].find((key) => typeof input[key] === 'string');
  return main === undefined ? JSON.stringify(input) : String(input[main]);
}
