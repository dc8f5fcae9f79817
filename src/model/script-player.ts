import type { Actor, ActorMatch, Reply, RequestView, Script } from './script-format.js';

/** What a request shows of itself, before it is known which actor gets it. */
export type RequestFacts = Omit<RequestView, 'turn'>;

export type Played =
  | { readonly ok: true; readonly reply: Exclude<Reply, string>; readonly serial: number }
  | { readonly ok: false; readonly problem: string };

/** Hands out the replies of a script, and knows at the end what went wrong. */
export class ScriptPlayer {
  readonly #actors: {
    readonly actor: Actor;
    readonly left: Map<number, Actor['replies'][number]>;
    turns: number;
  }[];
  readonly #problems: string[] = [];
  #serial = 0;

  constructor(script: Script) {
    this.#actors = script.actors.map((actor) => ({
      actor,
      left: new Map(actor.replies.entries()),
      turns: 0,
    }));
  }

  play(facts: RequestFacts): Played {
    this.#serial++;
    const state = this.#actors.find(({ actor }) => matches(actor.match, facts));
    if (state === undefined)
      return this.#problem(`no actor matches request ${this.#serial}`, facts);
    const view: RequestView = { ...facts, turn: state.turns++ };
    for (const [index, entry] of state.left) {
      const made = typeof entry === 'function' ? entry(view) : entry;
      const reply = typeof made === 'string' ? { text: made } : made;
      if (reply.when !== undefined && !facts.lastUser.includes(reply.when)) continue;
      state.left.delete(index);
      return { ok: true, reply, serial: this.#serial };
    }
    const what =
      state.left.size === 0
        ? `all ${state.actor.replies.length} replies of "${state.actor.name}" are played`
        : `no "when" of the ${state.left.size} replies left of "${state.actor.name}" holds`;
    return this.#problem(`the script has no reply for request ${this.#serial}: ${what}`, facts);
  }

  /** Requests that got no reply, and replies that nobody asked for. Empty: the script was played out. */
  problems(): string[] {
    const unplayed = this.#actors.flatMap(({ actor, left }) =>
      [...left.keys()].map((index) => `reply ${index + 1} of "${actor.name}" was never asked for`),
    );
    return [...this.#problems, ...unplayed];
  }

  #problem(text: string, facts: RequestFacts): Played {
    const problem = `${text} (last user text: ${JSON.stringify(facts.lastUser.slice(0, 120))})`;
    this.#problems.push(problem);
    return { ok: false, problem };
  }
}

function matches(match: ActorMatch | undefined, facts: RequestFacts): boolean {
  if (match === undefined) return true;
  if (typeof match === 'string') {
    return facts.system.includes(match) || facts.firstUser.includes(match);
  }
  const { tool, ...texts } = match;
  if (tool !== undefined && !facts.tools.includes(tool)) return false;
  return TEXT_FIELDS.every((field) => {
    const wanted = texts[field];
    return wanted === undefined || facts[field].includes(wanted);
  });
}

const TEXT_FIELDS = ['system', 'firstUser', 'lastUser', 'anyUser', 'model'] as const;
