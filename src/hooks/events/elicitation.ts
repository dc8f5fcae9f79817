import { isRecord, own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { canonicalJson } from '../../settings/trust/digest.js';
import { agree, type EventDeps, gateRefusals } from '../answers/round.js';
import { ask, type HookFields, type Scene } from '../dispatch/scene.js';
import type { HookRound } from '../registry/hook.js';

type Content = Readonly<Record<string, unknown>>;

/** What can be answered to a server, the mildest first. */
const ACTIONS = ['accept', 'decline', 'cancel'] as const;
type ElicitationAction = (typeof ACTIONS)[number];

export type Elicitation = HookFields<'Elicitation'>;

type ElicitationAnswer =
  /** No hook has an answer: the person or the host is asked. */
  | { readonly kind: 'none' }
  /** Neither of them is asked. `content` still has to fit the server's schema. */
  | { readonly kind: 'answer'; readonly action: ElicitationAction; readonly content?: Content }
  /** The server is told that the question is declined. */
  | { readonly kind: 'refused'; readonly reason: string };

/** An answer on its way back to the server. */
export type ElicitationResult = HookFields<'ElicitationResult'>;

interface ElicitationOutcome {
  readonly action: ElicitationAction;
  readonly content?: Content;
  /** Why it is not what was answered. */
  readonly reason?: string;
}

/** Hooks between MCP servers and the person or host that answers them. */
export interface ElicitationHooks {
  ask(question: Elicitation, scene: Scene): Promise<ElicitationAnswer>;
  /** `answeredBy`: absent counts as a person, whose refusal stays one. */
  result(
    given: ElicitationResult,
    scene: Scene,
    options?: { readonly answeredBy?: 'person' | 'hook' | 'nobody' },
  ): Promise<ElicitationOutcome>;
}

export function createElicitationHooks({ dispatch }: EventDeps): ElicitationHooks {
  return {
    async ask(question, scene) {
      const matched = [question.mcp_server_name];
      const round = await ask(dispatch, 'Elicitation', { scene, fields: { ...question }, matched });
      return answerOf(round);
    },
    async result(given, scene, { answeredBy = 'person' } = {}) {
      const { action, content, mcp_server_name: server } = given;
      const asked = { scene, fields: { ...given }, matched: [server] };
      const round = await ask(dispatch, 'ElicitationResult', asked);
      return outcomeOf(round, { action, content }, { isFirm: answeredBy === 'person' });
    },
  };
}

/** What one hook wants answered. */
interface Wanted {
  readonly by: string;
  readonly action?: ElicitationAction;
  readonly content?: Content;
  /** What it allows counts for nothing. */
  readonly restrictOnly: boolean;
}

function answerOf(round: HookRound): ElicitationAnswer {
  const read = readWanted(round);
  if (read.refusals.length > 0) return { kind: 'refused', reason: read.refusals.join('\n') };
  const wanted = read.wanted.filter(
    ({ action, restrictOnly }) => action !== undefined && !(restrictOnly && action === 'accept'),
  );
  const action = strictest(wanted);
  if (action === undefined) return { kind: 'none' };
  if (action !== 'accept') return { kind: 'answer', action };
  const content = oneContent(wanted);
  if (!content.ok) return { kind: 'refused', reason: content.error };
  return { kind: 'answer', action, content: content.value };
}

function outcomeOf(
  round: HookRound,
  given: ElicitationOutcome,
  { isFirm }: { readonly isFirm: boolean },
): ElicitationOutcome {
  const { refusals, wanted } = readWanted(round);
  const decline = (reason: string): ElicitationOutcome => ({
    action: given.action === 'cancel' ? 'cancel' : 'decline',
    reason,
  });
  if (refusals.length > 0) return decline(refusals.join('\n'));
  const action = strictest(wanted) ?? given.action;
  // fail-closed: what a person refused to tell a server, no hook tells it.
  if (isFirm && ACTIONS.indexOf(action) < ACTIONS.indexOf(given.action)) return given;
  const changer = wanted.find((one) => one.restrictOnly && isMilder(one, given));
  // fail-closed: a hook that may only restrict wants something else sent, so what there is stays here.
  if (changer !== undefined) return decline(`${changer.by} may not choose what is sent`);
  if (action !== 'accept') {
    const by = wanted.find((one) => one.action === action)?.by;
    if (by === undefined || action === given.action) return given;
    return { action, reason: `${by} made it "${action}"` };
  }
  const content = oneContent(wanted);
  if (!content.ok) return decline(content.error);
  return { action, content: content.value ?? given.content };
}

/** Whether a hook opens what was closed, or puts in its own words. */
function isMilder({ action, content }: Wanted, given: ElicitationOutcome): boolean {
  if (action === 'accept' && given.action !== 'accept') return true;
  if (content === undefined || (action ?? given.action) !== 'accept') return false;
  return canonicalJson(content) !== canonicalJson(given.content);
}

function readWanted(round: HookRound): {
  readonly refusals: readonly string[];
  readonly wanted: readonly Wanted[];
} {
  const refusals = [...gateRefusals(round)];
  const wanted: Wanted[] = [];
  for (const { hook, answer, failure } of round.reports) {
    if (failure !== undefined) continue;
    const said = own(answer.fields, 'action') ?? undefined;
    const content = own(answer.fields, 'content') ?? undefined;
    const action = ACTIONS.find((known) => known === said);
    // fail-closed: a word that cannot be understood may have been a refusal.
    const isUnread = said !== undefined && action === undefined;
    if (isUnread || (content !== undefined && !isRecord(content))) {
      const what = isUnread
        ? `the unknown action ${JSON.stringify(said)}`
        : 'a content that is not an object';
      refusals.push(`guard failed: ${hook.label} answered with ${what}`);
    } else {
      wanted.push({ by: hook.label, restrictOnly: hook.restrictOnly === true, action, content });
    }
  }
  return { refusals, wanted };
}

function strictest(wanted: readonly Wanted[]): ElicitationAction | undefined {
  return ACTIONS.findLast((action) => wanted.some((one) => one.action === action));
}

function oneContent(wanted: readonly Wanted[]): Result<Content | undefined, string> {
  const contents = wanted.flatMap(({ by, content }) =>
    content === undefined ? [] : [{ by, value: content }],
  );
  const agreed = agree(contents, (a, b) => canonicalJson(a) === canonicalJson(b));
  // fail-closed: no order between hooks says whose words the server may have.
  if (!agreed.ok) return err(`${agreed.error.join(' and ')} want different answers sent`);
  return ok(agreed.value?.value);
}
