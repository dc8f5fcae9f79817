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
  const findings: { by: string; finding: Finding }[] = [];
  for (const guard of panel.guards) {
    const started = panel.clock.monotonic();
    const { finding, failure } = await ask(guard, view);
    findings.push({ by: guard.name, finding });
    const ms = panel.clock.monotonic() - started;
    trace.push(step(guard.name, finding, { ms, failure }));
  }
  const worst = strictest(findings.map(({ finding }) => finding.decision));
  const worstOnes = findings.filter(({ finding }) => finding.decision === worst);
  const foremost = worstOnes.find(({ finding }) => finding.foremost === true) ?? worstOnes[0];
  const held = worst === 'none' ? undefined : foremost;
  if (held !== undefined) return { outcome: { kind: 'held', ...held }, trace };
  let reason: string | undefined;
  for (const resolver of panel.resolvers) {
    const started = panel.clock.monotonic();
    const { opening, failure } = await consult(resolver, view);
    const ms = panel.clock.monotonic() - started;
    trace.push(step(resolver.name, opening ?? { decision: 'pass' }, { ms, failure }));
    if (opening?.decision === 'allow') {
      return { outcome: { kind: 'allowed', by: resolver.name, opening }, trace };
    }
    reason ??= opening?.reason;
  }
  return { outcome: reason === undefined ? { kind: 'open' } : { kind: 'open', reason }, trace };
}

async function ask(guard: Guard, view: CallView): Promise<{ finding: Finding; failure?: string }> {
  try {
    return { finding: await guard.decide(view) };
  } catch (thrown) {
    // fail-closed: a guard that cannot answer says what it was made to say in that case.
    const failure = messageOf(thrown);
    const reason = `the guard "${guard.name}" failed: ${failure}`;
    return { finding: { decision: guard.onFailure, refusal: 'guard-failed', reason }, failure };
  }
}

async function consult(
  resolver: Resolver,
  view: CallView,
): Promise<{ opening?: Opening | undefined; failure?: string }> {
  try {
    return { opening: await resolver.decide(view) };
  } catch (thrown) {
    // fail-closed: a resolver that fails opens nothing.
    return { failure: messageOf(thrown) };
  }
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
