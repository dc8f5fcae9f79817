import type { SessionEvent } from '../../client/events.js';
import { retryText } from '../../client/turn-end.js';
import { ellipsis } from '../../lib/text/truncate.js';
import { textOf } from '../../protocol/content.js';
import { formatCount, formatDuration } from './format.js';
import { callSubject } from './tool-card.js';

export interface Notice {
  readonly level: 'info' | 'warning' | 'error';
  readonly text: string;
}

/** What an event says to the person beside the conversation; undefined: nothing. */
export function noticeOf(event: SessionEvent): Notice | undefined {
  switch (event.type) {
    case 'notice':
      // The end of the turn says it.
      if (event.tag === 'prompt_blocked') return undefined;
      return { level: event.level === 'warning' ? 'warning' : 'info', text: event.text };
    case 'retry':
      return warning(retryText(event.event));
    case 'compacting':
      return info('Summarising the conversation …');
    case 'compacted':
      return info(
        `Conversation summarised: ${formatCount(event.preTokens)} → ${formatCount(event.postTokens)} tokens`,
      );
    case 'compaction_failed':
      return warning(`The conversation could not be summarised: ${event.reason}`);
    case 'writes_lost':
      return {
        level: 'error',
        text: `The transcript cannot be written (${event.code}); ${event.lost} lines are kept in memory only.`,
      };
    case 'task_finished': {
      const usage =
        event.usage === undefined
          ? ''
          : ` · ${formatDuration(event.usage.durationMs)}, ${formatCount(event.usage.totalTokens)} tokens`;
      const text = `${event.taskId} ${event.status}: ${event.summary.split('\n')[0] ?? ''}${usage}`;
      return event.status === 'completed' ? info(text) : warning(text);
    }
    case 'config_changed':
      return info(`Settings changed: ${event.files.join(', ')}`);
    case 'appended':
      return event.problem === '' ? undefined : warning(event.problem);
    case 'input':
      return arrivals(textOf(event.message.content));
    default:
      return undefined;
  }
}

/** What a drawn terminal shows in its live region, as notices of one that only appends lines. */
export function liveNotice(event: SessionEvent): Notice | undefined {
  switch (event.type) {
    case 'tool': {
      if (event.state.kind !== 'running') return undefined;
      const { agent, tool, input } = event.call;
      const who = agent.depth === 0 ? '' : `${agent.path.split('/').at(-1)} `;
      return info(ellipsis(`${who}→ ${tool} ${callSubject(input).replace(/\s+/g, ' ')}`, 200));
    }
    case 'task_started': {
      const where = event.agent?.background === false ? 'works' : 'runs in the background';
      return info(
        `${event.agent?.type ?? 'command'} (${event.taskId}) ${where}: ${event.description}`,
      );
    }
    case 'mode':
      return info(`Mode: ${event.mode}`);
    case 'question_closed':
      if (event.outcome === 'answered' && event.by === 'terminal') return undefined;
      return info(
        `The question is closed: ${event.outcome}${event.by === undefined ? '' : ` by ${event.by}`}.`,
      );
    default:
      return undefined;
  }
}

const TEAM_MESSAGE =
  /<teammate-message id="m[\da-f]+" from="([\w-]+)"(?: kind="(\w+)")?[^>\n]*>\n([^\n]*)/g;

/** Messages of teammates, a line each. */
function arrivals(text: string): Notice | undefined {
  const rows = [...text.matchAll(TEAM_MESSAGE)].map(([, from, kind, said = '']) => {
    const what = kind === undefined ? '' : ` (${kind})`;
    return `← ${from}${what}: ${ellipsis(said, 160)}`;
  });
  return rows.length === 0 ? undefined : info(rows.join('\n'));
}

function info(text: string): Notice {
  return { level: 'info', text };
}

function warning(text: string): Notice {
  return { level: 'warning', text };
}
