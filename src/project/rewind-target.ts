import type { CheckpointNote, RewindTarget } from '../checkpoint/types.js';
import { PortcullisError } from '../errors.js';

export interface ListedPoints {
  readonly points: readonly CheckpointNote[];
  /** The command that lists them where the person is. */
  readonly listedBy: string;
}

/** What a person meant by a number, a message, a call or an agent. */
export function targetOf(
  word: string | undefined,
  { call, agent }: { readonly call?: string | undefined; readonly agent?: string | undefined },
  listed: ListedPoints,
): RewindTarget {
  const said = [word, call, agent].filter((one) => one !== undefined);
  const single =
    said.length === 1 || (said.length === 2 && agent !== undefined && call === undefined);
  if (!single) {
    throw new PortcullisError('usage', 'name a point, a call or an agent, not several', {
      remedy: 'an agent may be combined with the point from which its work is taken back',
    });
  }
  if (call !== undefined) return { kind: 'call', toolUseId: call };
  const since = word === undefined ? undefined : pointOf(word, listed).messageId;
  if (agent !== undefined) return { kind: 'agent', agent, since };
  if (since === undefined) throw new PortcullisError('usage', 'name a point, a call or an agent');
  return { kind: 'message', messageId: since };
}

/** By its number in the list (1 is the newest), its id or the beginning of that. */
function pointOf(word: string, { points, listedBy }: ListedPoints): CheckpointNote {
  // fail-closed: a number that is not in the list is not taken for the beginning of an id.
  const isNumber = /^\d{1,4}$/.test(word);
  const newestFirst = points.toReversed();
  const fits = isNumber
    ? newestFirst.slice(Number(word) - 1, Number(word))
    : points.filter(({ messageId }) => messageId.startsWith(word));
  const [only, ...others] = fits;
  if (only !== undefined && others.length === 0) return only;
  const message =
    only === undefined ? `there is no point ${word}` : `${word} stands for ${fits.length} points`;
  throw new PortcullisError('usage', message, { remedy: `${listedBy} lists them` });
}
