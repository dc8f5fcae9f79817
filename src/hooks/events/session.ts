import { messageOf } from '../../errors.js';
import { LONGEST_SESSION_END_MS } from '../../protocol/hooks/hook-event-facts.js';
import { contextsOf, type EventDeps, tellIgnored, textIn, textsIn } from '../answers/round.js';
import { ask, askObservers, type HookFields, type Scene } from '../dispatch/scene.js';
import { withTimeout } from '../dispatch/timeout.js';

export type SessionStarting = HookFields<'SessionStart'>;

/** What hooks want at the start of a session. They cannot keep it from starting. */
interface SessionStarted {
  /** For the model, before the first turn. */
  readonly contexts: readonly string[];
  /** A turn of its own before the first prompt; of several hooks, one text after the other. */
  readonly initialUserMessage?: string;
  /** Never on `clear` and `compact`. */
  readonly sessionTitle?: string;
  /** As given; relative ones are meant from the working directory. */
  readonly watchPaths: readonly string[];
  /** Skills are to be looked for once more. */
  readonly reloadSkills: boolean;
}

export async function sessionStart(
  deps: EventDeps,
  starting: SessionStarting,
  scene: Scene,
): Promise<SessionStarted> {
  const { source } = starting;
  const question = { scene, fields: { ...starting }, matched: [source] };
  const round = await askObservers(deps, 'SessionStart', question);
  const all = round.reports.map(({ answer }) => answer.fields);
  const messages = all.flatMap((fields) => textIn(fields, 'initialUserMessage') ?? []);
  const isGoingOn = source === 'clear' || source === 'compact';
  // Reports are in the order of their sources, the strongest first.
  const [title] = isGoingOn ? [] : all.flatMap((fields) => textIn(fields, 'sessionTitle') ?? []);
  return {
    contexts: contextsOf(round),
    initialUserMessage: messages.length === 0 ? undefined : messages.join('\n\n'),
    sessionTitle: title?.trim(),
    watchPaths: [...new Set(all.flatMap((fields) => textsIn(fields, 'watchPaths') ?? []))],
    reloadSkills: all.some((fields) => fields.reloadSkills === true),
  };
}

/** Setup: what hooks add for the model. */
export async function sessionSetup(
  deps: EventDeps,
  fields: HookFields<'Setup'>,
  scene: Scene,
): Promise<readonly string[]> {
  const round = await askObservers(deps, 'Setup', { scene, fields, matched: [fields.trigger] });
  return contextsOf(round);
}

/**
 * SessionEnd. Returns in bounded time, whatever limits the hooks name, and never throws. A signal that
 * has aborted already runs nothing.
 */
export async function sessionEnd(
  deps: EventDeps & { readonly endMs?: number },
  ending: HookFields<'SessionEnd'>,
  scene: Scene,
): Promise<void> {
  const { dispatch, endMs: ms = LONGEST_SESSION_END_MS } = deps;
  const matched = [ending.reason];
  if (!dispatch.has('SessionEnd', { agent: scene.agent, matched })) return;
  const timed = await withTimeout({ ms, signal: scene.signal }, (signal) =>
    ask(dispatch, 'SessionEnd', { scene: { ...scene, signal }, fields: { ...ending }, matched }),
  );
  if (timed.kind === 'done') return tellIgnored(deps, 'SessionEnd', timed.value);
  const why = {
    late: `they took longer than ${ms} ms`,
    threw: timed.kind === 'threw' ? messageOf(timed.thrown) : '',
    cancelled: messageOf(scene.signal.reason),
  };
  deps.tell(`SessionEnd hooks were cut short: ${why[timed.kind]}`);
}
