import { messageOf } from '../../errors.js';
import { orAbort } from '../../lib/abort.js';
import { LONGEST_SESSION_END_MS } from '../../protocol/hook-event-facts.js';
import { contextsFor, type EventDeps, tellIgnored, textIn, textsIn } from '../answers/round.js';
import {
  ask,
  askInBackground,
  createBackgroundRounds,
  type HookFields,
  type Scene,
} from '../dispatch/scene.js';

export type SessionStarting = HookFields<'SessionStart'>;

/** What hooks want at the start of a session. They cannot keep it from starting. */
export interface SessionStarted {
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

/** The hooks around a session. None of them can hold anything up. */
export interface SessionHooks {
  start(starting: SessionStarting, scene: Scene): Promise<SessionStarted>;
  setup(
    fields: HookFields<'Setup'>,
    scene: Scene,
  ): Promise<{ readonly contexts: readonly string[] }>;
  /** Returns in bounded time and never throws. A signal that has aborted already runs nothing. */
  end(
    ending: HookFields<'SessionEnd'>,
    scene: Omit<Scene, 'signal'> & Partial<Pick<Scene, 'signal'>>,
  ): Promise<void>;
  /** Nobody waits for these, except `close`. */
  instructionsLoaded(loaded: HookFields<'InstructionsLoaded'>, scene: Scene): void;
  /** Waits, for a while, for hooks that are still running. */
  close(): Promise<void>;
}

export interface SessionHookDeps extends EventDeps {
  /** Milliseconds for all SessionEnd hooks together, whatever limits they name. */
  readonly endMs?: number;
  /** Milliseconds that `close` waits. */
  readonly closeMs?: number;
}

export function createSessionHooks(deps: SessionHookDeps): SessionHooks {
  const { dispatch, closeMs } = deps;
  const background = createBackgroundRounds({ tell: deps.tell, closeMs });
  return {
    start: (starting, scene) => start(deps, starting, scene),
    async setup(fields, scene) {
      const round = await ask(dispatch, 'Setup', { scene, fields, matched: [fields.trigger] });
      tellIgnored(deps, 'Setup', round);
      return { contexts: contextsFor('Setup', round) };
    },
    end: (ending, scene) => end(deps, ending, scene),
    instructionsLoaded(loaded, scene) {
      askInBackground(dispatch, background, {
        event: 'InstructionsLoaded',
        scene,
        fields: { ...loaded },
        matched: [loaded.load_reason],
      });
    },
    close: () => background.close(),
  };
}

async function start(
  deps: SessionHookDeps,
  starting: SessionStarting,
  scene: Scene,
): Promise<SessionStarted> {
  const { source } = starting;
  const question = { scene, fields: { ...starting }, matched: [source] };
  const round = await ask(deps.dispatch, 'SessionStart', question);
  tellIgnored(deps, 'SessionStart', round);
  const all = round.reports.map(({ answer }) => answer.fields);
  const messages = all.flatMap((fields) => textIn(fields, 'initialUserMessage') ?? []);
  const isGoingOn = source === 'clear' || source === 'compact';
  // Hooks stand in the order of their sources, the strongest first.
  const [title] = isGoingOn ? [] : all.flatMap((fields) => textIn(fields, 'sessionTitle') ?? []);
  return {
    contexts: contextsFor('SessionStart', round),
    initialUserMessage: messages.length === 0 ? undefined : messages.join('\n\n'),
    sessionTitle: title?.trim(),
    watchPaths: [...new Set(all.flatMap((fields) => textsIn(fields, 'watchPaths') ?? []))],
    reloadSkills: all.some((fields) => fields.reloadSkills === true),
  };
}

async function end(
  deps: SessionHookDeps,
  ending: HookFields<'SessionEnd'>,
  scene: Parameters<SessionHooks['end']>[1],
): Promise<void> {
  const over = new AbortController();
  const limit = deps.endMs ?? LONGEST_SESSION_END_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const matched = [ending.reason];
    if (!deps.dispatch.has('SessionEnd', { agent: scene.agent, matched })) return;
    timer = setTimeout(() => over.abort(new Error(`they took longer than ${limit} ms`)), limit);
    const signals = scene.signal === undefined ? [] : [scene.signal];
    const signal = AbortSignal.any([over.signal, ...signals]);
    signal.throwIfAborted();
    const question = { scene: { ...scene, signal }, fields: { ...ending }, matched };
    const round = await orAbort(ask(deps.dispatch, 'SessionEnd', question), signal);
    tellIgnored(deps, 'SessionEnd', round);
  } catch (thrown) {
    deps.tell(`SessionEnd hooks were cut short: ${messageOf(thrown)}`);
  } finally {
    clearTimeout(timer);
  }
}
