import { escapeReservedTags } from '../lib/text/reserved-tags.js';
import { visible } from '../lib/text/visible.js';
import type { GateVerdict } from '../permissions/gate/types.js';
import { effectOf } from '../permissions/guards/effects.js';
import type { Rule } from '../permissions/rules/rule.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { PermissionMode, Receipt } from '../protocol/permissions.js';
import type { AnyTool } from '../tools/tool.js';
import type { Checkpoints } from './checkpoints.js';
import type { Change } from './types.js';

/** A call that was allowed on the assumption that it changes nothing. */
export interface HarmlessAssumption {
  readonly receipt: Receipt;
  /** Why it should change nothing; completes the sentence "… but it changed". */
  readonly why: string;
  /** Whether the assumption forbids this change. */
  isMeant(change: Change): boolean;
}

/** What an executed call is held to; undefined when it may change files. */
export function assumeHarmless(
  tool: AnyTool,
  verdict: Extract<GateVerdict, { kind: 'allowed' }>,
  { agent, mode, onlyReads, denied }: CallStance,
): HarmlessAssumption | undefined {
  const { receipt } = verdict;
  if (tool.kind !== 'execute' && tool.origin === undefined) return undefined;
  const every = { receipt, isMeant: () => true };
  const looks = receipt.trace.some(
    ({ decision, source }) => decision === 'allow' && source === 'read-only',
  );
  if (looks) return { ...every, why: 'judged to be read-only' };
  if (mode === 'plan') return { ...every, why: 'run in plan mode' };
  if (onlyReads)
    return { ...every, why: `run by ${agent.path}, an agent without tools that write` };
  // A person who answered a question about an effect allowed that effect only.
  const asked = new Set(
    receipt.trace.flatMap(({ guard, decision, source }) =>
      guard === 'effect rules' && decision === 'ask' ? [source] : [],
    ),
  );
  const held = denied.filter((rule) => !asked.has(rule.label));
  const writes = held.find((rule) => effectOf(rule) === 'writes');
  if (writes) return { ...every, why: `not to change files by the rule ${writes.label}` };
  const deletes = held.find((rule) => effectOf(rule) === 'deletes');
  const why = `not to delete files by the rule ${deletes?.label}`;
  return deletes && { receipt, why, isMeant: ({ after }) => after === undefined };
}

/** The circumstances in which a call was allowed. */
export interface CallStance {
  readonly agent: AgentRef;
  readonly mode: PermissionMode;
  /** The agent has no write tools. */
  readonly onlyReads: boolean;
  /** Deny rules about effects. */
  readonly denied: readonly Rule[];
}

/** A call's unexpected changes and their treatment. */
export interface Violation {
  /** For the person and, in the call's result, for the model. */
  readonly text: string;
  readonly amended: Receipt;
}

const SHOWN = 10;

/** Compares a call's changes with its assumption and undoes violations if `rollback` is set. */
export async function enforceAssumption(
  assumed: HarmlessAssumption,
  changes: readonly Change[],
  {
    journal,
    rollback,
    isHeld,
  }: { journal: Checkpoints; rollback: boolean; isHeld(toolUseId: string): boolean },
): Promise<Violation | undefined> {
  const { receipt, why } = assumed;
  const isOwn = ({ authors }: Change): boolean =>
    authors.some((one) => one.kind === 'call' && one.toolUseId === receipt.toolUseId);
  // A concurrent call that may write counts as the author of the change.
  const isOfWriter = ({ authors }: Change): boolean =>
    authors.some((one) => one.kind === 'call' && !isHeld(one.toolUseId));
  const own = changes.filter(
    (change) => isOwn(change) && assumed.isMeant(change) && !isOfWriter(change),
  );
  if (own.length === 0) return undefined;
  const sole = own.every(({ authors }) => authors.length === 1);
  const paths = own.map(({ path }) => path);
  // File names reach the model and must not imitate our own text.
  const listed = paths.slice(0, SHOWN).map(shown).join(', ');
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : '';
  const did = sole ? 'has changed' : 'may have changed (others ran at the same time)';
  const said = `${receipt.tool} was ${why}, but ${did} ${listed}${more}`;
  const back = rollback ? await takeBack(receipt, sole, journal) : undefined;
  return {
    text: `${said}.${back === undefined ? '' : ` ${back.text}`}`,
    amended: {
      ...receipt,
      effects: { changed: paths, violated: why, rolledBack: back?.done },
    },
  };
}

/** For a person whose own concurrent edits were undone too. */
const REDO = 'A person gets it back with `portcullis rewind redo`.';

function shown(path: string): string {
  return escapeReservedTags(visible(path));
}

async function takeBack(
  { toolUseId }: Receipt,
  sole: boolean,
  journal: Checkpoints,
): Promise<{ readonly text: string; readonly done: boolean }> {
  // fail-closed: changes that may be another author's work are not undone.
  if (!sole) return { text: 'It was left, because it may be the work of another.', done: false };
  const result = await journal.rewind({ kind: 'call', toolUseId, only: true });
  if (result.kind === 'refused')
    return { text: `It could not be undone: ${result.why}.`, done: false };
  const { conflicts, impossible } = result.plan;
  const kept = [...conflicts, ...impossible.map(({ what: path, why }) => ({ path, why }))];
  const left = [...kept, ...result.failed].map(({ path, why }) => `${shown(path)} (${why})`);
  return left.length === 0
    ? { text: `All of it has been undone. ${REDO}`, done: true }
    : { text: `It has been undone except for ${left.join(', ')}. ${REDO}`, done: false };
}
