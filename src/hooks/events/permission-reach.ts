import type { SettingSource } from '../../lib/sourced.js';
import type { AskAnswer } from '../../permissions/gate/types.js';
import type { PermissionUpdate } from '../../protocol/permissions.js';
import { isOfOwner } from '../../settings/types.js';
import type { Hook } from '../registry/hook.js';

/** What counts of a hook's answer, and what of it does not, each with why. */
export interface Reached {
  readonly answer: AskAnswer | undefined;
  readonly refused: readonly string[];
}

/**
 * Leaves of a yes what its hook may change beyond the call: a script takes no restriction away, and
 * one that came with a project writes nothing into its user's settings. A host's callback stands in
 * for its user and may do what the user may.
 */
export function withinReach(
  { handler, source }: Pick<Hook, 'handler' | 'source'>,
  answer: AskAnswer | undefined,
): Reached {
  if (answer?.behavior !== 'allow' || handler.type === 'callback') return { answer, refused: [] };
  const { updatedPermissions = [], scope, ...rest } = answer;
  const judged = updatedPermissions.map((update) => ({ update, why: beyond(update, source) }));
  const kept = judged.flatMap(({ update, why }) => (why === undefined ? [update] : []));
  const isTooWide = scope?.until === 'user' && !isOfOwner(source);
  return {
    answer: {
      ...rest,
      ...(kept.length === 0 ? {} : { updatedPermissions: kept }),
      // What is not kept in the user's settings is for this call.
      scope: isTooWide ? undefined : scope,
    },
    refused: [
      ...judged.flatMap(({ update, why }) =>
        why === undefined ? [] : [`${update.type} (${update.destination}) was left out: ${why}`],
      ),
      ...(isTooWide ? [`its yes is for this call alone: ${NOT_OF_USER}`] : []),
    ],
  };
}

const NOT_OF_USER = "a hook that is not the user's own changes nothing in the user's settings";

/** fail-closed: why an update is more than the hook may do; undefined when it is not. */
function beyond(update: PermissionUpdate, source: SettingSource): string | undefined {
  const { type, destination } = update;
  const isKept = destination !== 'session' && destination !== 'cliArg';
  if (type === 'removeRules' || type === 'replaceRules') {
    if (update.behavior !== 'allow') return `a hook takes no ${update.behavior} rule away`;
    if (type === 'replaceRules' && isKept) return 'a hook replaces rules for this session only';
  }
  if (isOfOwner(source)) return undefined;
  if (destination === 'userSettings') return NOT_OF_USER;
  if (isKept && type !== 'addRules') return `a project's hook only adds rules to its settings`;
  // Its files cannot raise the mode either.
  const raises = type === 'setMode' && RAISED.has(update.mode);
  return raises ? `a project's hook does not raise the mode to ${update.mode}` : undefined;
}

const RAISED: ReadonlySet<string> = new Set(['acceptEdits', 'bypassPermissions']);
