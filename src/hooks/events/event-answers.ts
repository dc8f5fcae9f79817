import { own } from '../../lib/own.js';
import { hookEventFacts } from '../../protocol/hook-events.js';
import { causeText } from '../answers/report-step.js';
import { isBlank, spoken } from '../answers/round.js';
import type {
  HookAnswer,
  HookDispatch,
  HookEventName,
  HookReport,
  HookRound,
} from '../registry/hook.js';

/** What the functions of all events need. */
export interface EventDeps {
  readonly dispatch: HookDispatch;
  /**
   * A person should know this. Failures, complaints and `systemMessage` are the dispatch's to tell;
   * here it is what only the event knows, such as a no that has no effect.
   */
  tell(text: string): void;
}

/** Why a hook says no, or, for a guard, that it could say nothing. */
export function noOf({ hook, ms, answer, failure, refuses }: HookReport): string | undefined {
  if (refuses === true) {
    // fail-closed: a guard that cannot answer refuses.
    const why = failure === undefined ? 'no-verdict' : causeText(failure);
    return `guard failed: ${hook.label} gave no verdict after ${Math.round(ms)} ms (${why})`;
  }
  if (answer.asyncMs !== undefined || answer.decision !== 'deny') return undefined;
  return withReason(`${hook.label} said no`, answer.reason);
}

/** A hook that leaves the decision to a person, or puts it off. */
export function questionOf({ hook, answer }: HookReport): string | undefined {
  if (answer.asyncMs !== undefined) return undefined;
  if (answer.decision !== 'ask' && answer.decision !== 'defer') return undefined;
  const what = answer.decision === 'ask' ? 'wants a person to decide' : 'puts the decision off';
  return withReason(`${hook.label} ${what}`, answer.reason);
}

/** `continue: false`, with who said it. */
export function wishToStop({ hook, answer }: HookReport): string | undefined {
  if (answer.asyncMs !== undefined || answer.stop === undefined) return undefined;
  return withReason(`${hook.label} wants everything to stop`, answer.stop);
}

/** All that a gate takes for a no, in the order in which the hooks are declared. */
export function gateRefusals(round: HookRound): readonly string[] {
  return round.reports.flatMap((report) => {
    // fail-closed: who wants everything to stop, or somebody else to decide, has not said yes.
    const refusal = noOf(report) ?? wishToStop(report) ?? questionOf(report);
    return refusal === undefined ? [] : [refusal];
  });
}

/** What the hooks have for the model, in the order in which they are declared. */
export function contextsFor(event: HookEventName, round: HookRound): readonly string[] {
  const textCounts = hookEventFacts(event).textIsContext === true;
  return spoken(round).flatMap((report) => {
    const { context, text } = report.answer;
    // Who reads answers may have made one of the other already.
    const given = isBlank(context) && textCounts && endedWell(report) ? text : context;
    return isBlank(given) ? [] : [given];
  });
}

/** What a program printed before it failed is no message to the model. */
function endedWell({ exitCode, answer }: HookReport): boolean {
  return answer.decision !== 'deny' && (exitCode === undefined || exitCode === 0);
}

/** For events that hooks cannot hold up: a no and a wish to stop reach the person, and no more. */
export function tellIgnored(deps: EventDeps, event: HookEventName, round: HookRound): void {
  for (const report of round.reports) {
    const said = noOf(report) ?? wishToStop(report);
    if (said !== undefined) deps.tell(`${event} hooks cannot hold anything up: ${said}`);
  }
}

/** A list of texts among the event's own fields; undefined when there is none. */
export function textsIn(fields: HookAnswer['fields'], name: string): readonly string[] | undefined {
  const value = own(fields, name);
  if (!Array.isArray(value)) return undefined;
  return value.filter((item): item is string => typeof item === 'string' && !isBlank(item));
}

/** A text among the event's own fields; undefined when there is none or it is blank. */
export function textIn(fields: HookAnswer['fields'], name: string): string | undefined {
  const value = own(fields, name);
  return typeof value === 'string' && !isBlank(value) ? value : undefined;
}

function withReason(text: string, reason: string | undefined): string {
  return isBlank(reason) ? text : `${text}: ${reason}`;
}
