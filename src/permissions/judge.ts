import type { Clock } from '../env/clock.js';
import { messageOf } from '../errors.js';
import { strictest, type TraceStep } from '../protocol/permissions.js';
import { type AtOnce, isLater, whenThere } from '../util/at-once.js';
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
  const hearing = new Hearing(view, panel);
  return whenThere(hearing.askGuards(0), () => hearing.held() ?? hearing.askResolvers(0));
}

/** A call before those who are asked about it, one after the other. */
class Hearing {
  readonly #view: CallView;
  readonly #panel: Panel;
  readonly #trace: TraceStep[] = [];
  #held: { readonly by: string; readonly finding: Finding } | undefined;
  #reason: string | undefined;
  /** The end of one is the beginning of the next. */
  #before: number;

  constructor(view: CallView, panel: Panel) {
    this.#view = view;
    this.#panel = panel;
    this.#before = panel.clock.monotonic();
  }

  askGuards(from: number): AtOnce<void> {
    const { guards } = this.#panel;
    for (let at = from; at < guards.length; at++) {
      const guard = guards[at] as Guard;
      const said = this.#ask(guard);
      if (isLater(said)) return said.then(() => this.askGuards(at + 1));
    }
  }

  held(): Judgement | undefined {
    const held = this.#held;
    if (held === undefined) return undefined;
    const { by, finding } = held;
    return { outcome: { kind: 'held', by, finding }, trace: this.#trace };
  }

  askResolvers(from: number): AtOnce<Judgement> {
    const { resolvers } = this.#panel;
    for (let at = from; at < resolvers.length; at++) {
      const resolver = resolvers[at] as Resolver;
      const said = this.#consult(resolver);
      if (isLater(said)) {
        return said.then((opened) => opened ?? this.askResolvers(at + 1));
      }
      if (said !== undefined) return said;
    }
    const reason = this.#reason;
    const outcome: Outcome = reason === undefined ? { kind: 'open' } : { kind: 'open', reason };
    return { outcome, trace: this.#trace };
  }

  #ask(guard: Guard): AtOnce<void> {
    let finding: AtOnce<Finding>;
    try {
      finding = guard.decide(this.#view);
    } catch (thrown) {
      return this.#hearFailure(guard, thrown);
    }
    if (!isLater(finding)) return this.#hear(guard, finding);
    return finding.then(
      (found) => this.#hear(guard, found),
      (thrown: unknown) => this.#hearFailure(guard, thrown),
    );
  }

  #hear(guard: Guard, finding: Finding, failure?: string): void {
    this.#note(guard.name, finding, failure);
    if (finding.decision === 'none') return;
    if (outweighs(finding, this.#held?.finding)) this.#held = { by: guard.name, finding };
  }

  /** fail-closed: a guard that cannot answer says what it was made to say in that case. */
  #hearFailure(guard: Guard, thrown: unknown): void {
    const failure = messageOf(thrown);
    const reason = `the guard "${guard.name}" failed: ${failure}`;
    this.#hear(guard, { decision: guard.onFailure, refusal: 'guard-failed', reason }, failure);
  }

  /** What comes out of it, where it opens the call. */
  #consult(resolver: Resolver): AtOnce<Judgement | undefined> {
    let opening: AtOnce<Opening | undefined>;
    try {
      opening = resolver.decide(this.#view);
    } catch (thrown) {
      return this.#mute(resolver, thrown);
    }
    if (!isLater(opening)) return this.#openedBy(resolver, opening);
    return opening.then(
      (found) => this.#openedBy(resolver, found),
      (thrown: unknown) => this.#mute(resolver, thrown),
    );
  }

  #openedBy({ name }: Resolver, opening: Opening | undefined): Judgement | undefined {
    this.#note(name, opening ?? PASSED);
    if (opening === undefined) return undefined;
    if (opening.decision === 'allow') {
      return { outcome: { kind: 'allowed', by: name, opening }, trace: this.#trace };
    }
    this.#reason ??= opening.reason;
    return undefined;
  }

  /** fail-closed: a resolver that fails opens nothing. */
  #mute({ name }: Resolver, thrown: unknown): undefined {
    this.#note(name, PASSED, messageOf(thrown));
  }

  #note(guard: string, said: Said, failure?: string): void {
    const started = this.#before;
    this.#before = this.#panel.clock.monotonic();
    // To the microsecond: what is written down of every call is not to be filled with digits.
    const ms = Math.round((this.#before - started) * 1000) / 1000;
    const step: { -readonly [Key in keyof TraceStep]: TraceStep[Key] } = {
      guard,
      decision: said.decision,
      ms,
    };
    if (said.reason !== undefined) step.reason = said.reason;
    if (said.source !== undefined) step.source = said.source;
    if (failure !== undefined) step.failure = failure;
    this.#trace.push(step);
  }
}

/** What somebody said, as it stands in a receipt. */
interface Said {
  readonly decision: TraceStep['decision'];
  readonly reason?: string;
  readonly source?: string;
}

const PASSED: Said = { decision: 'pass' };

/** The strictest holds the call; among equals the one that people must read, else the first. */
function outweighs(one: Finding, held: Finding | undefined): boolean {
  if (held === undefined) return true;
  if (one.decision === held.decision) return one.foremost === true && held.foremost !== true;
  return strictest([held.decision, one.decision]) === one.decision;
}
