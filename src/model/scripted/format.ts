import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { nearest } from '../../lib/text/nearest.js';

/**
 * The format of a scripted model: what it answers, in order. As a file it is JSON.
 *
 *   script := [reply, …] | {"replies": [reply, …]} | {"actors": [actor, …]}
 *   actor  := {"name", "match"?, "replies": [reply, …]}     the first actor that matches gets the request
 *   match  := "text" (in the system prompt or the first user message)
 *           | {"system"?, "firstUser"?, "lastUser"?, "anyUser"?, "model"?, "tool"?}   all must hold
 *   reply  := "text"
 *           | {"text"} | {"thinking", "text"?} | {"tool", "input"?, "id"?} | {"tool", "rawInput"}
 *           | {"blocks": [block, …]}          block: "text", {"text"}, {"thinking"}, {"tool", …}
 *           | {"error": {"status", "type"?, "message"?, "retryAfterMs"?}}
 *   and beside any of them:
 *     "when": "text"          plays only for a request whose last user message contains it
 *     "stopReason", "usage"   instead of what follows from the blocks
 *     "delayMs"               before the answer begins
 *     "cutStream": true       the connection breaks in the middle
 *     "serve": {…}            only for the fake server, see `ServeOptions`
 *
 * A request takes the first reply that was not played yet and whose `when` holds. A request without
 * a reply, and a reply that no request asked for, are errors.
 */
export interface Script {
  readonly actors: readonly Actor[];
}

export interface Actor {
  readonly name: string;
  readonly match?: ActorMatch;
  readonly replies: readonly (Reply | ReplyFunction)[];
}

export type ActorMatch =
  | string
  | {
      readonly system?: string;
      readonly firstUser?: string;
      readonly lastUser?: string;
      readonly anyUser?: string;
      readonly model?: string;
      /** A tool of this name is offered. */
      readonly tool?: string;
    };

export type ScriptedBlock =
  | string
  | { readonly text: string }
  | { readonly thinking: string; readonly signature?: string }
  | {
      readonly tool: string;
      readonly input?: Readonly<Record<string, unknown>> | undefined;
      readonly id?: string | undefined;
      /** Sent as it is instead of `input`: broken JSON. */
      readonly rawInput?: string | undefined;
    };

export interface ScriptedError {
  readonly status: number;
  readonly type?: string;
  readonly message?: string;
  readonly retryAfterMs?: number;
}

/** How the fake server misbehaves, or dresses its answer. */
export interface ServeOptions {
  readonly misbehave?:
    | 'hang'
    | 'hang_midway'
    | 'reset'
    | 'malformed_sse'
    | 'html'
    | 'unstreamed'
    | 'wrong_content_type'
    | 'no_end'
    | 'empty';
  /** One chunk of this many bytes at a time, each in its own write. */
  readonly dripBytes?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ReplyExtras {
  readonly when?: string;
  readonly stopReason?: string;
  readonly usage?: Readonly<Record<string, number>>;
  readonly delayMs?: number;
  readonly cutStream?: boolean;
  readonly serve?: ServeOptions;
}

export type Reply =
  | string
  | (ReplyExtras & {
      readonly text?: string;
      readonly thinking?: string;
      readonly tool?: string;
      readonly input?: Readonly<Record<string, unknown>> | undefined;
      readonly id?: string | undefined;
      readonly rawInput?: string | undefined;
      readonly blocks?: readonly ScriptedBlock[];
      readonly error?: ScriptedError;
    });

/** What a request looks like to a script. */
export interface RequestView {
  readonly model: string;
  readonly system: string;
  readonly firstUser: string;
  /** Tool results included. */
  readonly lastUser: string;
  readonly anyUser: string;
  readonly tools: readonly string[];
  /** Requests that this actor has had before. */
  readonly turn: number;
}

/** In code only: a reply that depends on the request. */
export type ReplyFunction = (view: RequestView) => Reply;

/** Reads a script file's text. The error says where and what. */
export function parseScript(text: string, file: string): Result<Script, string> {
  const parsed = parseJson(text);
  if (!parsed.ok) return err(`${file} is not JSON: ${parsed.error}`);
  const { value } = parsed;
  if (Array.isArray(value)) return single(value, file);
  if (!isRecord(value)) return err(`${file} must hold a list of replies or {"actors": […]}`);
  if (Array.isArray(value.replies)) return single(value.replies, file);
  if (!Array.isArray(value.actors)) return err(`${file} has neither "replies" nor "actors"`);
  const actors: Actor[] = [];
  for (const [index, actor] of value.actors.entries()) {
    const problem = actorProblem(actor);
    if (problem !== undefined) return err(`${file}, actor ${index + 1}: ${problem}`);
    // Checked by `actorProblem`.
    actors.push(actor as Actor);
  }
  return ok({ actors });
}

/** A list of replies as a script with one actor. */
export function scriptOf(replies: readonly (Reply | ReplyFunction)[]): Script {
  return { actors: [{ name: 'main', replies }] };
}

function single(replies: readonly unknown[], file: string): Result<Script, string> {
  const problem = repliesProblem(replies);
  if (problem !== undefined) return err(`${file}, ${problem}`);
  // Checked by `repliesProblem`.
  return ok(scriptOf(replies as readonly Reply[]));
}

function actorProblem(actor: unknown): string | undefined {
  if (!isRecord(actor)) return 'must be an object';
  if (typeof actor.name !== 'string' || actor.name === '') return '"name" is missing';
  if (!Array.isArray(actor.replies)) return `"replies" of "${actor.name}" is not a list`;
  const { match } = actor;
  if (match !== undefined && typeof match !== 'string') {
    const problem = fieldsProblem(match, MATCH_FIELDS);
    if (problem !== undefined) return `"match" of "${actor.name}": ${problem}`;
  }
  return repliesProblem(actor.replies);
}

function repliesProblem(replies: readonly unknown[]): string | undefined {
  for (const [index, reply] of replies.entries()) {
    if (typeof reply === 'string') continue;
    const problem = fieldsProblem(reply, REPLY_FIELDS) ?? contentProblem(reply);
    if (problem !== undefined) return `reply ${index + 1}: ${problem}`;
  }
  return undefined;
}

type FieldKind = 'string' | 'number' | 'boolean' | 'object' | 'list';
type Fields = Readonly<Record<string, FieldKind>>;

const ofKind = (kind: FieldKind, names: string): Fields =>
  Object.fromEntries(names.split(' ').map((name) => [name, kind]));

const MATCH_FIELDS = ofKind('string', 'system firstUser lastUser anyUser model tool');
const TOOL_FIELDS = { ...ofKind('string', 'tool id rawInput'), ...ofKind('object', 'input') };
const BLOCK_FIELDS = { ...TOOL_FIELDS, ...ofKind('string', 'text thinking signature') };
const ERROR_FIELDS = {
  ...ofKind('number', 'status retryAfterMs'),
  ...ofKind('string', 'type message'),
};
const REPLY_FIELDS: Fields = {
  ...TOOL_FIELDS,
  ...ofKind('string', 'text thinking when stopReason'),
  ...ofKind('object', 'error usage serve'),
  blocks: 'list',
  delayMs: 'number',
  cutStream: 'boolean',
};

function fieldsProblem(value: unknown, fields: Fields): string | undefined {
  if (!isRecord(value)) return 'must be a text or an object';
  for (const [name, field] of Object.entries(value)) {
    const kind = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (kind === undefined) {
      const close = nearest(name, Object.keys(fields));
      return `unknown key "${name}"${close === undefined ? '' : `, did you mean "${close}"?`}`;
    }
    if (!isKind(field, kind)) return `"${name}" must be a ${kind}`;
  }
  return undefined;
}

function isKind(value: unknown, kind: FieldKind): boolean {
  if (kind === 'list') return Array.isArray(value);
  return kind === 'object' ? isRecord(value) : typeof value === kind;
}

function contentProblem(reply: unknown): string | undefined {
  if (!isRecord(reply)) return 'must be a text or an object';
  const has = ['text', 'thinking', 'tool', 'blocks', 'error'].filter((name) => name in reply);
  if (has.length === 0 && reply.cutStream !== true && reply.serve === undefined) {
    return 'says nothing: give "text", "tool", "blocks" or "error"';
  }
  if (reply.error !== undefined) {
    const problem = fieldsProblem(reply.error, ERROR_FIELDS);
    if (problem !== undefined) return `"error": ${problem}`;
    if (isRecord(reply.error) && reply.error.status === undefined) return '"error" has no "status"';
  }
  if (!Array.isArray(reply.blocks)) return undefined;
  for (const [index, block] of reply.blocks.entries()) {
    const problem = typeof block === 'string' ? undefined : fieldsProblem(block, BLOCK_FIELDS);
    if (problem !== undefined) return `block ${index + 1}: ${problem}`;
  }
  return undefined;
}
