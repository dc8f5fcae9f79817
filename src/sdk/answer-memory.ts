import { isRecord } from '../util/own.js';

type Message = Readonly<Record<string, unknown>>;

/** Answers that are good for a number of calls, and the words in which the runtime takes the others. */
export interface AnswerMemory {
  /** An earlier answer that still holds for this question. */
  recall(question: Message): Message | undefined;
  /** The answer as it goes over the wire; what it says of further calls is remembered here. */
  translate(question: Message, answer: unknown): unknown;
  beginTurn(): void;
}

interface Remembered {
  /** Whether it is for this question. */
  fits(question: Message): boolean;
  left: number;
  readonly expiresAt: number;
  readonly turn: boolean;
}

const WHAT = new Map([
  ['once', 'call'],
  ['identical', 'exact'],
  ['prefix', 'prefix'],
  ['tool', 'tool'],
]);

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
        (answer) => answer.left > 0 && answer.expiresAt > now() && answer.fits(question),
      );
      if (one === undefined) return undefined;
      one.left--;
      remembered = remembered.filter(({ left }) => left > 0);
      return { behavior: 'allow' };
    },
    translate(question, answer) {
      if (!isRecord(answer) || answer.behavior !== 'allow') return answer;
      const { scope, for: span, expiresInMs, uses, ...rest } = answer;
      // A scope in the runtime's own words goes through as it is.
      if (scope !== undefined && typeof scope !== 'string') return answer;
      const said = [scope, span, expiresInMs, uses].some((field) => field !== undefined);
      if (!said) return answer;
      const read = readScope(answer);
      // fail-closed: a limit that cannot be read would be none.
      if (typeof read === 'string') return { behavior: 'deny', message: read };
      if (read.what === 'call') return rest;
      const expiresAt = read.ms === undefined ? undefined : now() + read.ms;
      if (read.uses === undefined) {
        return {
          ...rest,
          scope: {
            what: read.what,
            until: read.until,
            ...(expiresAt === undefined ? {} : { expiresAt }),
          },
        };
      }
      remembered.push({
        fits: matcherFor(read.what, question),
        left: read.uses,
        expiresAt: expiresAt ?? Number.POSITIVE_INFINITY,
        turn: read.until === 'turn',
      });
      return rest;
    },
    beginTurn() {
      remembered = remembered.filter(({ turn }) => !turn);
    },
  };
}

interface ReadScope {
  readonly what: string;
  readonly until: string;
  readonly ms: number | undefined;
  readonly uses: number | undefined;
}

function readScope({ scope = 'once', for: span, expiresInMs, uses }: Message): ReadScope | string {
  const what = WHAT.get(String(scope));
  if (what === undefined) return `unknown scope ${JSON.stringify(scope)}`;
  const until = span ?? 'session';
  if (!['turn', 'session', 'project', 'user'].includes(String(until))) {
    return `unknown span ${JSON.stringify(span)}`;
  }
  const isAmount = (value: unknown): boolean =>
    value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= 0);
  if (!isAmount(expiresInMs)) return 'expiresInMs is no number of milliseconds';
  if (!isAmount(uses)) return 'uses is no number';
  return {
    what,
    until: String(until),
    ms: expiresInMs as number | undefined,
    uses: uses === undefined ? undefined : Math.floor(uses as number),
  };
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
