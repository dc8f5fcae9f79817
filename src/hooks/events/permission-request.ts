import { isRecord, own } from '../../lib/own.js';
import { ASKS_PERSON } from '../../permissions/gate/guard.js';
import { lowerMode } from '../../permissions/gate/modes.js';
import { readAskAnswer } from '../../permissions/gate/questions.js';
import type {
  AskAnswer,
  Asker,
  AskRequest,
  GateCall,
  GateVerdict,
} from '../../permissions/gate/types.js';
import { suggestedUpdates } from '../../permissions/grants/suggest.js';
import type { PermissionMode, PermissionUpdate, TraceStep } from '../../protocol/permissions.js';
import { isOfOwner } from '../../settings/types.js';
import { oneRewrite, refusalOf, reportStep } from '../answers/round.js';
import { type AboutCall, type FitsRule, namesOf, toolOccasion } from '../dispatch/input.js';
import type { Hook, HookDispatch, HookReport } from '../registry/hook.js';
import { PRE_TOOL_USE_HOOKS } from './pre-tool-use.js';

const EVENT = 'PermissionRequest';

/** What receipts call them. */
export const PERMISSION_REQUEST_HOOKS = 'PermissionRequest hooks';

interface PermissionRequestDeps {
  /** Whether an `if` rule fits the call. */
  readonly ifRule: (about: AboutCall<GateCall>) => FitsRule;
}

type Allow = Extract<AskAnswer, { behavior: 'allow' }>;
type Deny = Extract<AskAnswer, { behavior: 'deny' }>;

/**
 * Asks the PermissionRequest hooks and, at the same time, the person or host. The first decision counts: the
 * question to the person is then withdrawn; hooks run to their end without effect. Undefined when neither
 * can answer.
 */
export function createHookAsker(
  dispatch: HookDispatch,
  deps: PermissionRequestDeps,
): (call: GateCall, asker: Asker | undefined) => Asker | undefined {
  // The gate recognises the same question by its asker: one wrapper per asker and, as hooks can be for some
  // agents, per agent.
  const wrapped = new WeakMap<object, Map<string, Asker>>();
  return (call, asker) => {
    const { agent } = call;
    if (!dispatch.has(EVENT, { agent, matched: namesOf(call) })) return asker;
    const ofAsker = wrapped.get(asker ?? NO_ASKER) ?? new Map<string, Asker>();
    wrapped.set(asker ?? NO_ASKER, ofAsker);
    const known = ofAsker.get(agent.path);
    if (known !== undefined) return known;
    const made: Asker = (request) => put(request, asker, () => askHooks(dispatch, deps, request));
    // Agents come and go; after this limit a question may be asked twice.
    if (ofAsker.size >= MOST_AGENTS) ofAsker.clear();
    ofAsker.set(agent.path, made);
    return made;
  };
}

const MOST_AGENTS = 256;
const NO_ASKER = {};

interface Decided {
  /** Absent when no hook decided. */
  readonly answer?: AskAnswer;
  readonly trace: readonly TraceStep[];
}

async function put(
  request: AskRequest,
  asker: Asker | undefined,
  hooks: () => Promise<Decided>,
): Promise<AskAnswer> {
  const { call, heldBy, mode } = request;
  if (heldBy === PRE_TOOL_USE_HOOKS && asker === undefined) {
    return unanswered('A hook wants a person to decide.');
  }
  if (asker === undefined && modeDecides(call, mode)) return unanswered('');
  const over = new AbortController();
  const signal = AbortSignal.any([call.signal, over.signal]);
  const person = asker?.({ ...request, call: { ...call, signal } });
  // Not withdrawn when the person is quicker: a script that was started is let finish what it does.
  const said = hooks();
  const fromHooks = waitsForPerson(request) ? said.then(onlyNo) : said;
  for (const question of [person, fromHooks]) {
    question?.catch(() => {
      // Withdrawn or failed after the other had decided: its answer is not needed any more.
    });
  }
  try {
    const first = await Promise.race([
      fromHooks,
      ...(person === undefined ? [] : [person.then((answer): Decided => ({ answer, trace: [] }))]),
    ]);
    const { answer, trace } = first;
    if (answer !== undefined) return answer;
    if (person !== undefined) return { ...(await person), trace };
    const why = trace.length === 0 ? '' : `The ${PERMISSION_REQUEST_HOOKS} gave no decision.`;
    return unanswered(why, trace);
  } finally {
    over.abort(new Error('another answer came first'));
  }
}

const FOR_PERSON: ReadonlySet<string> = new Set(Object.values(ASKS_PERSON));

/**
 * fail-closed: a hook that wants a person to decide is not answered by another hook's yes, and what
 * plan mode, a protected path or a critical removal holds is not opened by a script, also where another
 * guard asks first.
 */
function waitsForPerson({ heldBy, trace, forPerson }: AskRequest): boolean {
  if (heldBy === PRE_TOOL_USE_HOOKS || forPerson === true) return true;
  return trace.some(({ guard, decision }) => FOR_PERSON.has(guard) && decision === 'ask');
}

function onlyNo({ answer, trace }: Decided): Decided {
  return answer?.behavior === 'deny' ? { answer, trace } : { trace };
}

function unanswered(message: string, trace: readonly TraceStep[] = []): AskAnswer {
  return { behavior: 'deny', message, unanswered: true, trace };
}

/** What the hooks say together: a no of any of them counts, else a yes, else nothing. */
async function askHooks(
  dispatch: HookDispatch,
  deps: PermissionRequestDeps,
  request: AskRequest,
): Promise<Decided> {
  const { call, mode } = request;
  const suggestions = suggestedUpdates(request);
  const occasion = toolOccasion(EVENT, request, {
    fits: deps.ifRule({ call, mode }),
    fields: suggestions.length === 0 ? {} : { permission_suggestions: suggestions },
  });
  const { reports } = await dispatch.fire(EVENT, occasion);
  const noes: Deny[] = [];
  const yeses: { by: string; answer: Allow }[] = [];
  const trace = reports.flatMap((report) => {
    const { answer, refused } = withinReach({ ...report.hook, mode }, answerOf(report));
    if (answer?.behavior === 'deny') noes.push(answer);
    if (answer?.behavior === 'allow') yeses.push({ by: report.hook.label, answer });
    const reason = answer?.behavior === 'deny' ? answer.message : undefined;
    return [
      reportStep(report, answer?.behavior ?? 'pass', reason),
      ...refused.map((why) => reportStep(report, 'pass', why)),
    ];
  });
  if (noes.length === 0 && yeses.length === 0) return { trace };
  const answer = noes.length > 0 ? joinNoes(noes) : joinYeses(call, yeses);
  return { trace, answer: { ...answer, by: PERMISSION_REQUEST_HOOKS, byHook: true, trace } };
}

/** What one hook decided; undefined when it has no opinion. */
function answerOf(report: HookReport): AskAnswer | undefined {
  const { hook, answer, complaint } = report;
  const refusal = refusalOf(report);
  if (refusal?.stop !== undefined && answer.stop !== undefined) {
    return { behavior: 'deny', message: refusal.stop, stop: refusal.stop };
  }
  const given = own(answer.fields, 'decision') ?? undefined;
  const read = given === undefined ? undefined : readAskAnswer(given);
  if (read?.ok === true && read.value.behavior === 'deny') {
    const isTold =
      isRecord(given) && typeof given.message === 'string' && given.message.trim() !== '';
    return isTold
      ? read.value
      : { ...read.value, message: answer.reason ?? `${hook.label} said no` };
  }
  if (refusal?.failed === true) return broken(refusal.reason);
  if (refusal !== undefined) return { behavior: 'deny', message: refusal.reason };
  if (read?.ok === false) {
    // fail-closed: what cannot be read may have been a no.
    return broken(`the guard failed: ${hook.label} gave no verdict (${read.error})`);
  }
  const counts = hook.restrictOnly !== true && complaint === undefined;
  return counts && answer.asyncMs === undefined ? read?.value : undefined;
}

function broken(reason: string): Deny {
  const text = reason.charAt(0).toUpperCase() + reason.slice(1);
  const message = `${text}. A guard that cannot answer refuses; tell the user.`;
  return { behavior: 'deny', message };
}

function joinNoes(noes: readonly Deny[]): Deny {
  const stops = noes.flatMap(({ stop }) => stop ?? []);
  return {
    behavior: 'deny',
    message: noes.map(({ message }) => message).join('\n'),
    interrupt: noes.some(({ interrupt }) => interrupt === true),
    stop: stops.join('\n') || undefined,
  };
}

/** Several who say yes must mean the same call; what they want changed besides adds up. */
function joinYeses(
  call: GateCall,
  yeses: readonly { readonly by: string; readonly answer: Allow }[],
): AskAnswer {
  const wanted = yeses.flatMap(({ by, answer: { updatedInput } }) =>
    updatedInput === undefined ? [] : [{ by, input: updatedInput, allowed: true, authors: [] }],
  );
  const rewrite = oneRewrite(wanted, [call.input]);
  if (rewrite !== undefined && 'conflict' in rewrite) {
    return { behavior: 'deny', message: `${call.tool.name} was refused: ${rewrite.conflict}.` };
  }
  const updatedPermissions = yeses.flatMap(({ answer }) => answer.updatedPermissions ?? []);
  const [{ answer: { scope } = {} } = {}] = yeses;
  return {
    behavior: 'allow',
    updatedInput: rewrite?.input,
    ...(updatedPermissions.length === 0 ? {} : { updatedPermissions }),
    // How far a yes reaches is for one to say: of several, each is for this call.
    scope: yeses.length > 1 ? undefined : scope,
  };
}

/**
 * Whether the mode itself decides about such a call: plan mode lets no command run that might change
 * something, and where no person is there to be asked, no hook is asked instead.
 */
function modeDecides({ tool }: Pick<GateCall, 'tool'>, mode: PermissionMode): boolean {
  return mode === 'plan' && tool.kind === 'execute';
}

/**
 * Asks PermissionDenied hooks about calls that the mode refused without asking a person. They cannot change
 * the refusal. `hint` is for the model.
 */
export function createDenialHooks(dispatch: HookDispatch, deps: PermissionRequestDeps) {
  return async (call: GateCall, verdict: GateVerdict): Promise<{ readonly hint?: string }> => {
    if (verdict.kind !== 'refused' || verdict.unanswered !== true) return {};
    const { mode, reason, input } = verdict.receipt;
    if (!modeDecides(call, mode)) return {};
    // The input that was judged: a hook may have given the call another one.
    const about = { call: isRecord(input) ? { ...call, input } : call, mode };
    const more = { fits: deps.ifRule(about), fields: { reason } };
    const { reports } = await dispatch.fire(DENIED, toolOccasion(DENIED, about, more));
    const again = reports.filter(({ answer }) => own(answer.fields, 'retry') === true);
    if (again.length === 0) return {};
    const by = again.map(({ hook }) => hook.label).join(', ');
    return {
      hint: `${by} says that this call may be tried again; it will be judged as any other.`,
    };
  };
}

const DENIED = 'PermissionDenied';

/** Whose hook answers, and in which mode the call is judged. */
interface Reach extends Pick<Hook, 'handler' | 'source'> {
  readonly mode: PermissionMode;
}

/**
 * Leaves of a yes what its hook may change beyond the call, and says what it left out: a script takes
 * no restriction away, and one that came with a project writes nothing into its user's settings. A
 * host's callback acts for its user and may do what the user may.
 */
export function withinReach(
  { handler, source, mode }: Reach,
  answer: AskAnswer | undefined,
): { readonly answer: AskAnswer | undefined; readonly refused: readonly string[] } {
  if (answer?.behavior !== 'allow' || handler.type === 'callback') return { answer, refused: [] };
  const { updatedPermissions = [], scope, ...rest } = answer;
  const refused: string[] = [];
  const kept = updatedPermissions.filter((update) => {
    const why = beyond(update, { source, mode });
    if (why !== undefined) {
      refused.push(`${update.type} (${update.destination}) was left out: ${why}`);
    }
    return why === undefined;
  });
  const isTooWide = scope?.until === 'user' && !isOfOwner(source);
  if (isTooWide) refused.push(`its yes is for this call alone: ${NOT_OF_USER}`);
  return {
    answer: {
      ...rest,
      ...(kept.length === 0 ? {} : { updatedPermissions: kept }),
      // What is not kept in the user's settings is for this call.
      scope: isTooWide ? undefined : scope,
    },
    refused,
  };
}

const NOT_OF_USER = "a hook that is not the user's own changes nothing in the user's settings";

/** fail-closed: why an update is more than the hook may do; undefined when it is not. */
function beyond(
  update: PermissionUpdate,
  { source, mode }: Omit<Reach, 'handler'>,
): string | undefined {
  const { type, destination } = update;
  const isKept = destination !== 'session' && destination !== 'cliArg';
  if (type === 'removeRules' || type === 'replaceRules') {
    if (update.behavior !== 'allow') return `a hook takes no ${update.behavior} rule away`;
    if (type === 'replaceRules' && isKept) return 'a hook replaces rules for this session only';
  }
  if (type === 'setMode' && mode === 'plan' && update.mode !== 'plan') {
    return 'a hook does not end plan mode, which waits for a person';
  }
  if (isOfOwner(source)) return undefined;
  if (destination === 'userSettings') return NOT_OF_USER;
  if (isKept && type !== 'addRules') return `a project's hook only adds rules to its settings`;
  // Its files cannot raise the mode either.
  const raises =
    type === 'setMode' && (RAISED.has(update.mode) || lowerMode(update.mode, mode) !== update.mode);
  return raises ? `a project's hook does not raise the mode to ${update.mode}` : undefined;
}

const RAISED: ReadonlySet<string> = new Set(['acceptEdits', 'bypassPermissions']);
