import { quoteMarks } from '../lib/text/quote-marks.js';
import { visible } from '../lib/text/visible.js';
import type { GateVerdict } from '../permissions/gate/types.js';
import { effectOf } from '../permissions/guards/effects.js';
import type { Rule } from '../permissions/rules/rule.js';
import type { AgentRef } from '../protocol/agent-ref.js';
import type { PermissionMode, Receipt } from '../protocol/permissions.js';
import type { AnyTool } from '../tools/tool.js';
import type { Checkpoints } from './checkpoints.js';
import type { Change } from './types.js';

/** A call that was let through under the assumption that it changes nothing. */
export interface Assumed {
  readonly receipt: Receipt;
  /** Why nothing was to change, as the end of "… but it was". */
  readonly why: string;
  /** The changes that it was not to make. */
  isMeant(change: Change): boolean;
}

/** What a call that ran is held to; undefined where it may change files. */
export function assumedHarmless(
  tool: AnyTool,
  verdict: Extract<GateVerdict, { kind: 'allowed' }>,
  { agent, mode, onlyReads, denied }: CallStance,
): Assumed | undefined {
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
  // A person who was asked about an effect has allowed that one, and no other.
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

/** How a call stood when it was let through. */
export interface CallStance {
  readonly agent: AgentRef;
  readonly mode: PermissionMode;
  /** The agent has no tool that writes. */
  readonly onlyReads: boolean;
  /** Deny rules about effects. */
  readonly denied: readonly Rule[];
}

/** What came of holding a call to it. */
export interface Violation {
  /** For the person and, as the result of the call, for the model. */
  readonly text: string;
  readonly amended: Receipt;
}

const SHOWN = 10;

/** Compares what a call was to do with what it did, and takes it back where that is wanted. */
export async function holdTo(
  assumed: Assumed,
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
  // A call that was let through to write ran at the same time: the change is its work, as far as anybody knows.
  const isOfWriter = ({ authors }: Change): boolean =>
    authors.some((one) => one.kind === 'call' && !isHeld(one.toolUseId));
  const own = changes.filter(
    (change) => isOwn(change) && assumed.isMeant(change) && !isOfWriter(change),
  );
  if (own.length === 0) return undefined;
  const sole = own.every(({ authors }) => authors.length === 1);
  const paths = own.map(({ path }) => path);
  // Names come from the file system and go to the model: they must not look like our own words.
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

/** Whoever wrote something of his own meanwhile gets it back. */
const REDO = 'A person gets it back with `portcullis rewind redo`.';

function shown(path: string): string {
  return quoteMarks(visible(path));
}

async function takeBack(
  { toolUseId }: Receipt,
  sole: boolean,
  journal: Checkpoints,
): Promise<{ readonly text: string; readonly done: boolean }> {
  // fail-closed: what may be somebody else's work is not destroyed in the name of a rule.
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
