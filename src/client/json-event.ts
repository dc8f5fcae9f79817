import type { LoopEvent, RunResult, SessionNews } from '../app.js';
import type { AgentEvent, SessionEvent, Turn } from './events.js';

/** The event as clients see it: what no JSON can hold is left out or made plain. */
export function jsonEvent(event: LoopEvent | SessionNews): SessionEvent {
  if (event.type === 'answer' || event.type === 'child') return agentEvent(event);
  return event;
}

function agentEvent(event: LoopEvent): AgentEvent {
  if (event.type === 'child') return { ...event, event: agentEvent(event.event) };
  if (event.type !== 'answer') return event;
  const { malformed: _malformed, ...answer } = event.answer;
  return { ...event, answer };
}

export function jsonRun(run: RunResult): Turn {
  const { lastAnswer } = run.outcome;
  if (lastAnswer === undefined) return { ...run, outcome: { ...run.outcome, lastAnswer } };
  const { malformed: _malformed, ...rest } = lastAnswer;
  return { ...run, outcome: { ...run.outcome, lastAnswer: rest } };
}
