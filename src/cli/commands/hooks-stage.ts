import type { FileSystem } from '../../env/fs.js';
import type { HookDispatch, HookEventName, HookRound, Occasion } from '../../hooks/hook.js';
import type { Scene } from '../../hooks/scene.js';
import type { GateCall } from '../../permissions/types.js';
import type { PermissionMode } from '../../protocol/permissions.js';
import type { Fields } from './hooks-payload.js';
import type { Trial } from './hooks-trial.js';

/** What all hooks of an event together would have brought about. */
export interface Outcome {
  readonly text: string;
  /** What was about to happen would not. */
  readonly refused: boolean;
  /** What the model would be given, in the words it would read. */
  readonly forModel: readonly string[];
  /** The input in place of the call's own. */
  readonly input?: Fields;
  readonly permissions?: readonly unknown[];
}

export function nothingHeld(text: string, forModel: readonly string[] = []): Outcome {
  return { text, refused: false, forModel };
}

/** Where the part of a session that asks these hooks finds what it needs. */
export interface Stage {
  readonly event: HookEventName;
  readonly fields: Fields;
  readonly scene: Scene;
  readonly mode: PermissionMode;
  readonly signal: AbortSignal;
  readonly call?: GateCall;
  readonly fs: FileSystem;
  readonly home: string;
  readonly projectDir: string;
  /** Asks the hooks, with the trial's input in place of what it is given. */
  readonly ask: HookDispatch;
  fits(about: {
    readonly call: GateCall;
    readonly mode: PermissionMode;
  }): (rule: string) => Promise<boolean>;
}

/**
 * The real hooks, asked with the input of a trial: the part of the session that asks them decides
 * what their answers come to, whatever it would have told them. A second look at a new input is real.
 */
export function asking(
  dispatch: HookDispatch,
  { occasion }: Trial,
): { readonly ask: HookDispatch; readonly rounds: readonly HookRound[] } {
  const rounds: HookRound[] = [];
  const ask: HookDispatch = {
    has: () => true,
    async fire(event, theirs) {
      const { signal } = theirs;
      const asked: Occasion =
        rounds.length === 0 ? { ...occasion, signal } : { ...again(occasion, theirs), signal };
      const round = await dispatch.fire(event, asked);
      rounds.push(round);
      return round;
    },
  };
  return { ask, rounds };
}

function again(occasion: Occasion, theirs: Occasion): Occasion {
  const { tool_input } = theirs.fields;
  return {
    ...occasion,
    fields: { ...occasion.fields, tool_input },
    ...(theirs.fits === undefined ? {} : { fits: theirs.fits }),
  };
}
