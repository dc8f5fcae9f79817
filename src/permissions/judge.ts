import type { Clock } from '../env/clock.js';
import { messageOf } from '../errors.js';
import { strictest, type TraceStep } from '../protocol/permissions.js';
import type { Finding, Guard, Opening, Resolver } from './guard.js';
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

/** Takes a call through all guards, then, if none holds it, through the resolvers until one opens it. */
export async function judge(
  view: CallView,
  panel: {
    readonly guards: readonly Guard[];
    readonly resolvers: readonly Resolver[];
    readonly clock: Pick<Clock, 'monotonic'>;
  },
): Promise<Judgement> {
  const trace: TraceStep[] = [];
  let held: { by: string; finding: Finding } | undefined;
  // The end of one is the beginning of the next.
  let before = panel.clock.monotonic();
  /** To the microsecond: what is written down of every call is not to be filled with digits. */
  const lap = (): number => {
    const started = before;
    before = panel.clock.monotonic();
    return Math.round((before - started) * 1000) / 1000;
  };
  for (const guard of panel.guards) {
    const asked = ask(guard, view);
    const { finding, failure } = asked instanceof Promise ? await asked : asked;
    trace.push(step(guard.name, finding, { ms: lap(), failure }));
    if (outweighs(finding, held?.finding)) held = { by: guard.name, finding };
  }
  if (held !== undefined) return { outcome: { kind: 'held', ...held }, trace };
  let reason: string | undefined;
  for (const resolver of panel.resolvers) {
    const asked = consult(resolver, view);
    const { opening, failure } = asked instanceof Promise ? await asked : asked;
    trace.push(step(resolver.name, opening ?? PASSED, { ms: lap(), failure }));
    if (opening?.decision === 'allow') {
      return { outcome: { kind: 'allowed', by: resolver.name, opening }, trace };
    }
    reason ??= opening?.reason;
  }
  return { outcome: reason === undefined ? { kind: 'open' } : { kind: 'open', reason }, trace };
}

const PASSED = { decision: 'pass' } as const;

/** The strictest holds the call; among equals the one that people must read, else the first. */
function outweighs(one: Finding, held: Finding | undefined): boolean {
  if (one.decision === 'none') return false;
  if (held === undefined) return true;
  if (one.decision === held.decision) return one.foremost === true && held.foremost !== true;
  return strictest([held.decision, one.decision]) === one.decision;
}

interface Asked {
  readonly finding: Finding;
  readonly failure?: string;
}

/** At once where the guard answers at once, which most do for most calls. */
function ask(guard: Guard, view: CallView): Asked | Promise<Asked> {
  try {
    const finding = guard.decide(view);
    if (!(finding instanceof Promise)) return { finding };
    return finding.then(
      (found) => ({ finding: found }),
      (thrown: unknown) => failed(guard, thrown),
    );
  } catch (thrown) {
    return failed(guard, thrown);
  }
}

/** fail-closed: a guard that cannot answer says what it was made to say in that case. */
function failed(guard: Guard, thrown: unknown): Asked {
  const failure = messageOf(thrown);
  const reason = `the guard "${guard.name}" failed: ${failure}`;
  return { finding: { decision: guard.onFailure, refusal: 'guard-failed', reason }, failure };
}

interface Consulted {
  readonly opening?: Opening | undefined;
  readonly failure?: string;
}

function consult(resolver: Resolver, view: CallView): Consulted | Promise<Consulted> {
  try {
    const opening = resolver.decide(view);
    if (!(opening instanceof Promise)) return { opening };
    return opening.then((found) => ({ opening: found }), mute);
  } catch (thrown) {
    return mute(thrown);
  }
}

/** fail-closed: a resolver that fails opens nothing. */
function mute(thrown: unknown): Consulted {
  return { failure: messageOf(thrown) };
}

function step(
  guard: string,
  said: { decision: TraceStep['decision']; reason?: string; source?: string },
  { ms, failure }: { ms: number; failure?: string | undefined },
): TraceStep {
  const made: { -readonly [Key in keyof TraceStep]: TraceStep[Key] } = {
    guard,
    decision: said.decision,
    ms,
  };
  if (said.reason !== undefined) made.reason = said.reason;
  if (said.source !== undefined) made.source = said.source;
  if (failure !== undefined) made.failure = failure;
  return made;
}
