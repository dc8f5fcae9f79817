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
  return new Hearing(view, panel).askGuards(0);
}

/**
 * A call before those who are asked about it, one after the other. Some thirty are asked about every
 * call and nearly all have nothing to say: that is heard in the loops themselves.
 */
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

  askGuards(from: number): AtOnce<Judgement> {
    const { guards } = this.#panel;
    const view = this.#view;
    const trace = this.#trace;
    for (let at = from; at < guards.length; at++) {
      const guard = guards[at] as Guard;
      let finding: AtOnce<Finding>;
      try {
        finding = guard.decide(view);
      } catch (thrown) {
        this.#hearFailure(guard, thrown);
        continue;
      }
      if (finding === NOTHING) {
        trace.push({ guard: guard.name, decision: 'none', ms: this.#took() });
      } else if (isLater(finding)) {
        return this.#awaitFinding(guard, finding).then(() => this.askGuards(at + 1));
      } else {
        this.#hear(guard, finding);
      }
    }
    const held = this.#held;
    if (held === undefined) return this.#askResolvers(0);
    return { outcome: { kind: 'held', by: held.by, finding: held.finding }, trace };
  }

  #awaitFinding(guard: Guard, finding: Promise<Finding>): Promise<void> {
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

  #askResolvers(from: number): AtOnce<Judgement> {
    const { resolvers } = this.#panel;
    const view = this.#view;
    const trace = this.#trace;
    for (let at = from; at < resolvers.length; at++) {
      const resolver = resolvers[at] as Resolver;
      let opening: AtOnce<Opening | undefined>;
      try {
        opening = resolver.decide(view);
      } catch (thrown) {
        this.#mute(resolver, thrown);
        continue;
      }
      if (opening === undefined) {
        trace.push({ guard: resolver.name, decision: 'pass', ms: this.#took() });
        continue;
      }
      if (isLater(opening)) {
        return this.#awaitOpening(resolver, opening).then(
          (opened) => opened ?? this.#askResolvers(at + 1),
        );
      }
      const opened = this.#openedBy(resolver, opening);
      if (opened !== undefined) return opened;
    }
    const reason = this.#reason;
    return { outcome: reason === undefined ? { kind: 'open' } : { kind: 'open', reason }, trace };
  }

  #awaitOpening(
    resolver: Resolver,
    opening: Promise<Opening | undefined>,
  ): Promise<Judgement | undefined> {
    return opening.then(
      (found) => this.#openedBy(resolver, found),
      (thrown: unknown) => this.#mute(resolver, thrown),
    );
  }

  /** What comes out of it, where it opens the call. */
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
    const step: { -readonly [Key in keyof TraceStep]: TraceStep[Key] } = {
      guard,
      decision: said.decision,
      ms: this.#took(),
    };
    if (said.reason !== undefined) step.reason = said.reason;
    if (said.source !== undefined) step.source = said.source;
    if (failure !== undefined) step.failure = failure;
    this.#trace.push(step);
  }

  /** Milliseconds since the last one was heard, to the microsecond: receipts are not to be filled with digits. */
  #took(): number {
    const before = this.#before;
    const now = this.#panel.clock.monotonic();
    this.#before = now;
    return Math.round((now - before) * 1000) / 1000;
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
