import type { SessionEvent } from '../../client/events.js';
import { formatCount, formatDuration } from './format.js';

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
    case 'retry': {
      if (event.event.type === 'fallback') {
        return warning(`${event.event.failure.message}. Continuing with ${event.event.to}.`);
      }
      const { attempt, maxRetries, delayMs, failure } = event.event;
      const remedy = attempt === 1 && failure.remedy !== undefined ? ` · ${failure.remedy}` : '';
      const wait = (delayMs / 1000).toFixed(1);
      return warning(
        `${failure.message} · trying again in ${wait} s (${attempt} of ${maxRetries})${remedy}`,
      );
    }
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
    default:
      return undefined;
  }
}

function info(text: string): Notice {
  return { level: 'info', text };
}

function warning(text: string): Notice {
  return { level: 'warning', text };
}
