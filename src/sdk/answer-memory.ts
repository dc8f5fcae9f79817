import { isRecord } from '../lib/own.js';

type Message = Readonly<Record<string, unknown>>;

/** Answers that are good for a number of calls, and the words in which the runtime takes the others. */
export interface AnswerMemory {
  /** An earlier answer that still holds for this question. */
  recall(question: Message): Message | undefined;
  /** The answer as the runtime takes it; what it says of further calls is remembered here. */
  translate(question: Message, answer: unknown): unknown;
  beginTurn(): void;
}

interface Remembered {
  /** Whether it is for this question. */
  fits(question: Message): boolean;
  left: number;
  readonly expiresAt: number;
  readonly until: string;
}

const WHAT = new Map([
  ['once', 'call'],
  ['identical', 'exact'],
  ['prefix', 'prefix'],
  ['tool', 'tool'],
]);
const SPANS: readonly unknown[] = ['turn', 'session', 'project', 'user'];

/**
 * Scopes are kept by the runtime, which knows what a rule covers. Only answers with a number of uses
 * are counted here: the runtime then asks each time, and this side answers.
 */
export function createAnswerMemory(now: () => number): AnswerMemory {
  let remembered: Remembered[] = [];
  return {
    recall(question) {
      if (!mayRecall(question)) return undefined;
      const one = remembered.find(
        ({ left, expiresAt, fits }) => left > 0 && expiresAt > now() && fits(question),
      );
      if (one === undefined) return undefined;
      one.left--;
      return { behavior: 'allow' };
    },
    translate(question, answer) {
      if (!isRecord(answer) || answer.behavior !== 'allow') return answer;
      const { scope, for: span, expiresInMs, uses, ...rest } = answer;
      // A scope in the runtime's own words goes through as it is.
      if (scope !== undefined && typeof scope !== 'string') return answer;
      if ([scope, span, expiresInMs, uses].every((field) => field === undefined)) return answer;
      const what = WHAT.get(scope ?? 'once');
      const until = span ?? 'session';
      const problem =
        what === undefined
          ? `unknown scope ${JSON.stringify(scope)}`
          : !SPANS.includes(until)
            ? `unknown span ${JSON.stringify(span)}`
            : !isAmount(expiresInMs)
              ? 'expiresInMs is not a number of milliseconds'
              : !isAmount(uses)
                ? 'uses is not a number'
                : undefined;
      // fail-closed: a limit that cannot be read would be none.
      if (what === undefined || problem !== undefined)
        return { behavior: 'deny', message: problem };
      if (what === 'call') return rest;
      const expiresAt = expiresInMs === undefined ? undefined : now() + Number(expiresInMs);
      if (uses === undefined) return { ...rest, scope: { what, until, expiresAt } };
      remembered.push({
        fits: matcherFor(what, question),
        left: Math.floor(Number(uses)),
        expiresAt: expiresAt ?? Number.POSITIVE_INFINITY,
        until: String(until),
      });
      return rest;
    },
    beginTurn() {
      remembered = remembered.filter(({ until, left }) => until !== 'turn' && left > 0);
    },
  };
}

function isAmount(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= 0);
}

/** fail-closed: what a guard holds back is asked about every time, whichever guard it is. */
function mayRecall(question: Message): boolean {
  return (
    question.held_by === undefined &&
    question.matched_ask_rule === undefined &&
    question.requires_user_interaction !== true &&
    (question.decision_reason_type === 'other' || question.decision_reason_type === undefined)
  );
}

function matcherFor(what: string, question: Message): (other: Message) => boolean {
  const { tool_name: tool, agent_id: agent } = question;
  const isSame = (other: Message): boolean => other.tool_name === tool && other.agent_id === agent;
  if (what === 'tool') return isSame;
  if (what === 'exact') {
    const key = JSON.stringify(question.input);
    return (other) => isSame(other) && JSON.stringify(other.input) === key;
  }
  const rules = new Set(suggestedRules(question));
  return (other) => isSame(other) && suggestedRules(other).some((rule) => rules.has(rule));
}

/** The rules that the runtime would suggest for calls like this one. */
function suggestedRules({ permission_suggestions: suggestions }: Message): readonly string[] {
  if (!Array.isArray(suggestions)) return [];
  return suggestions.flatMap((update: unknown) =>
    isRecord(update) && update.type === 'addRules' && update.behavior === 'allow'
      ? [JSON.stringify(update.rules)]
      : [],
  );
}
