import type { StreamEvent } from '../client.js';
import type { Actor, ActorMatch, Reply, RequestView, Script, ScriptedBlock } from './format.js';

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

  /** Requests that got no reply, and replies that no request asked for. Empty: the script was played out. */
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

type FullReply = Exclude<Reply, string>;

/** The blocks that a reply says, in order. */
export function blocksOf(reply: FullReply): Exclude<ScriptedBlock, string>[] {
  const blocks: ScriptedBlock[] = [];
  if (reply.thinking !== undefined) blocks.push({ thinking: reply.thinking });
  if (reply.text !== undefined) blocks.push({ text: reply.text });
  if (reply.tool !== undefined) {
    const { tool, input, id, rawInput } = reply;
    blocks.push({ tool, input, id, rawInput });
  }
  blocks.push(...(reply.blocks ?? []));
  return blocks.map((block) => (typeof block === 'string' ? { text: block } : block));
}

export function toolIdOf(
  block: { readonly id?: string | undefined },
  serial: number,
  index: number,
): string {
  return block.id ?? `toolu_script_${serial}_${index}`;
}

/** What the model would write as the input of a call. */
export function inputTextOf(block: {
  readonly input?: Readonly<Record<string, unknown>> | undefined;
  readonly rawInput?: string | undefined;
}): string {
  return block.rawInput ?? JSON.stringify(block.input ?? {});
}

export function stopReasonOf(reply: FullReply): string {
  if (reply.stopReason !== undefined) return reply.stopReason;
  return blocksOf(reply).some((block) => 'tool' in block) ? 'tool_use' : 'end_turn';
}

/** A reply as the events of the Messages API. */
export function eventsOf(
  reply: FullReply,
  options: { readonly serial: number; readonly model: string },
): StreamEvent[] {
  const { serial, model } = options;
  const usage = { input_tokens: 10, output_tokens: 5, ...reply.usage };
  const events: StreamEvent[] = [
    {
      type: 'message_start',
      message: { id: `msg_script_${serial}`, model, usage: { ...usage, output_tokens: 1 } },
    },
  ];
  for (const [index, block] of blocksOf(reply).entries()) {
    events.push(...blockEvents(block, { serial, index }));
  }
  events.push(
    {
      type: 'message_delta',
      delta: { stop_reason: stopReasonOf(reply), stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    },
    { type: 'message_stop' },
  );
  return events;
}

function blockEvents(
  block: Exclude<ScriptedBlock, string>,
  options: { readonly serial: number; readonly index: number },
): StreamEvent[] {
  const { serial, index } = options;
  const stop: StreamEvent = { type: 'content_block_stop', index };
  if ('tool' in block) {
    const id = toolIdOf(block, serial, index);
    const start = { type: 'tool_use', id, name: block.tool, input: {} };
    const pieces = halves(inputTextOf(block));
    return [
      { type: 'content_block_start', index, content_block: start },
      ...pieces.map((partial_json): StreamEvent => {
        return {
          type: 'content_block_delta',
          index,
          delta: { type: 'input_json_delta', partial_json },
        };
      }),
      stop,
    ];
  }
  if ('thinking' in block) {
    const start = { type: 'thinking', thinking: '', signature: '' };
    const { thinking } = block;
    const signature = block.signature ?? 'c2NyaXB0ZWQ=';
    return [
      { type: 'content_block_start', index, content_block: start },
      { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking } },
      { type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } },
      stop,
    ];
  }
  return [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    ...halves(block.text).map((text): StreamEvent => {
      return { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
    }),
    stop,
  ];
}

/** Two pieces, as a real stream never sends a text in one. */
function halves(text: string): string[] {
  const middle = Math.floor(text.length / 2);
  const cut = /[\ud800-\udbff]/.test(text[middle - 1] ?? '') ? middle + 1 : middle;
  return [text.slice(0, cut), text.slice(cut)].filter((piece) => piece !== '');
}
