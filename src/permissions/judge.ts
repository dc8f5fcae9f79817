import type { Clock } from '../env/clock.js';
import { messageOf } from '../errors.js';
import { strictest, type TraceStep } from '../protocol/permissions.js';
import { type AtOnce, isLater } from '../util/at-once.js';
import { type Finding, type Guard, NOTHING, type Opening, type Resolver } from './guard.js';
import type { CallView } from './view.js';

export type Outcome =
  | { readonly kind: 'held'; readonly by: string; readonly finding: Finding }
  | { readonly kind: 'allowed'; readonly by: string; readonly opening: Opening }
  /** Nobody objects and nobody allows it. */
  | { readonly kind: 'open'; readonly reason?: string };

export interface Judgement {
  readonly outcome: Outcome;
  readonly trace: readonly TraceStep[];
}

/** Those who are asked about a call. */
export interface Panel {
  readonly guards: readonly Guard[];
  readonly resolvers: readonly Resolver[];
  readonly clock: Pick<Clock, 'monotonic'>;
}

/**
 * Takes a call through all guards, then, if none holds it, through the resolvers until one opens it. At
 * once where all who are asked answer at once, which most do for most calls.
 */
export function judge(view: CallView, panel: Panel): AtOnce<Judgement> {
  const before = panel.clock.monotonic();
  return askGuards({ view, panel, trace: [], held: undefined, reason: undefined, before }, 0);
}

/** A call before those who are asked about it, one after the other. */
interface Hearing {
  readonly view: CallView;
  readonly panel: Panel;
  readonly trace: TraceStep[];
  held: { readonly by: string; readonly finding: Finding } | undefined;
  reason: string | undefined;
  /** The end of one is the beginning of the next. */
  before: number;
}

/** Some thirty are asked about every call, and most have nothing to say: that is heard here at once. */
function askGuards(hearing: Hearing, from: number): AtOnce<Judgement> {
  const { view, panel, trace } = hearing;
  const { guards } = panel;
  for (let at = from; at < guards.length; at++) {
    const guard = guards[at] as Guard;
    let finding: AtOnce<Finding>;
    try {
      finding = guard.decide(view);
    } catch (thrown) {
      hearFailure(hearing, guard, thrown);
      continue;
    }
    if (finding === NOTHING) {
      trace.push({ guard: guard.name, decision: 'none', ms: took(hearing) });
    } else if (isLater(finding)) {
      return awaitFinding(hearing, guard, finding).then(() => askGuards(hearing, at + 1));
    } else {
      hear(hearing, guard, finding);
    }
  }
  const { held } = hearing;
  if (held === undefined) return askResolvers(hearing, 0);
  return { outcome: { kind: 'held', by: held.by, finding: held.finding }, trace };
}

function awaitFinding(hearing: Hearing, guard: Guard, finding: Promise<Finding>): Promise<void> {
  return finding.then(
    (found) => hear(hearing, guard, found),
    (thrown: unknown) => hearFailure(hearing, guard, thrown),
  );
}

function hear(hearing: Hearing, guard: Guard, finding: Finding): void {
  note(hearing, guard.name, finding);
  hold(hearing, guard, finding);
}

/** fail-closed: a guard that cannot answer says what it was made to say in that case. */
function hearFailure(hearing: Hearing, guard: Guard, thrown: unknown): void {
  const failure = messageOf(thrown);
  const decision = guard.onFailure;
  const reason = `the guard "${guard.name}" failed: ${failure}`;
  note(hearing, guard.name, { decision, reason, failure });
  hold(hearing, guard, { decision, refusal: 'guard-failed', reason });
}

function hold(hearing: Hearing, { name }: Guard, finding: Finding): void {
  if (finding.decision === 'none') return;
  if (outweighs(finding, hearing.held?.finding)) hearing.held = { by: name, finding };
}

/** As `askGuards`, until one opens the call. */
function askResolvers(hearing: Hearing, from: number): AtOnce<Judgement> {
  const { view, panel, trace } = hearing;
  const { resolvers } = panel;
  for (let at = from; at < resolvers.length; at++) {
    const resolver = resolvers[at] as Resolver;
    let opening: AtOnce<Opening | undefined>;
    try {
      opening = resolver.decide(view);
    } catch (thrown) {
      mute(hearing, resolver, thrown);
      continue;
    }
    if (opening === undefined) {
      trace.push({ guard: resolver.name, decision: 'pass', ms: took(hearing) });
      continue;
    }
    if (isLater(opening)) {
      return awaitOpening(hearing, resolver, opening).then(
        (opened) => opened ?? askResolvers(hearing, at + 1),
      );
    }
    const opened = openedBy(hearing, resolver, opening);
    if (opened !== undefined) return opened;
  }
  const { reason } = hearing;
  return { outcome: reason === undefined ? { kind: 'open' } : { kind: 'open', reason }, trace };
}

function awaitOpening(
  hearing: Hearing,
  resolver: Resolver,
  opening: Promise<Opening | undefined>,
): Promise<Judgement | undefined> {
  return opening.then(
    (found) => openedBy(hearing, resolver, found),
    (thrown: unknown) => mute(hearing, resolver, thrown),
  );
}

/** What comes out of it, where it opens the call. */
function openedBy(
  hearing: Hearing,
  { name }: Resolver,
  opening: Opening | undefined,
): Judgement | undefined {
  note(hearing, name, opening ?? PASSED);
  if (opening === undefined) return undefined;
  if (opening.decision === 'allow') {
    return { outcome: { kind: 'allowed', by: name, opening }, trace: hearing.trace };
  }
  hearing.reason ??= opening.reason;
  return undefined;
}

/** fail-closed: a resolver that fails opens nothing. */
function mute(hearing: Hearing, { name }: Resolver, thrown: unknown): undefined {
  note(hearing, name, { decision: 'pass', failure: messageOf(thrown) });
}

/** What somebody said, as it stands in a receipt. */
type Said = Pick<TraceStep, 'decision' | 'reason' | 'source' | 'failure'>;

const PASSED: Said = { decision: 'pass' };

function note(hearing: Hearing, guard: string, said: Said): void {
  const step: { -readonly [Key in keyof TraceStep]: TraceStep[Key] } = {
    guard,
    decision: said.decision,
    ms: took(hearing),
  };
  if (said.reason !== undefined) step.reason = said.reason;
  if (said.source !== undefined) step.source = said.source;
  if (said.failure !== undefined) step.failure = said.failure;
  hearing.trace.push(step);
}

/** Milliseconds since the last one was heard, to the microsecond: receipts are not to be filled with digits. */
function took(hearing: Hearing): number {
  const { before } = hearing;
  const now = hearing.panel.clock.monotonic();
  hearing.before = now;
  return Math.round((now - before) * 1000) / 1000;
}

/** The strictest holds the call; among equals the one that people must read, else the first. */
function outweighs(one: Finding, held: Finding | undefined): boolean {
  if (held === undefined) return true;
  if (one.decision === held.decision) return one.foremost === true && held.foremost !== true;
  return strictest([held.decision, one.decision]) === one.decision;
}
