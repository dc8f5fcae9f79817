import { messageOf } from '../../errors.js';
import type { Scene } from '../../hooks/dispatch/scene.js';
import type { ElicitationHooks } from '../../hooks/events/elicitation.js';
import { orAbort } from '../../lib/abort.js';
import { checkContent } from '../../lib/elicitation-check.js';
import { parseUrl } from '../../lib/parse-url.js';
import { err, ok, type Result } from '../../lib/result.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import { visible } from '../../lib/text/visible.js';
import type { Clock } from '../../platform/clock.js';
import type { AskElicitation, ElicitQuestion, ElicitReply } from '../../protocol/elicitation.js';
import type { Elicit, ElicitAnswer, ElicitRequest } from '../server.js';
import { oneLine } from './content.js';
import { readForm } from './elicitation-form.js';

/** `over`: the question was withdrawn or stayed unanswered. */
type ElicitMoment = 'asked' | ElicitReply['action'] | 'over';

type AnsweredBy = 'person' | 'hook' | 'nobody';

export interface ElicitDeps {
  readonly hooks?: ElicitationHooks;
  scene(signal: AbortSignal): Scene;
  /** Asks the person or host; absent or returning undefined when neither can answer. */
  readonly ask?: AskElicitation;
  /** Tells people why a question was not shown or an answer changed. */
  onNote?(text: string): void;
  /** Sends the `elicitation_*` notifications. */
  onAttention?(moment: ElicitMoment, question: ElicitQuestion): void;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly limits?: Partial<ElicitLimits>;
}

const LONGEST_MESSAGE = 4000;
const DECLINE: ElicitAnswer = Object.freeze({ action: 'decline' });
const CANCEL: ElicitAnswer = Object.freeze({ action: 'cancel' });

/**
 * Answers a server's question: hooks first, then the person or host, then hooks that see the answer. Answers
 * are validated against the form; every doubt declines.
 */
export function createElicit(deps: ElicitDeps): Elicit {
  const limit = new ElicitLimit(deps.clock, deps.limits);
  return async (request, signal) => {
    if (signal.aborted) return CANCEL;
    const note = (text: string): void =>
      deps.onNote?.(`The MCP server "${oneLine(request.server)}" asked something: ${text}`);
    const refused = limit.enter(request.server);
    if (refused !== undefined) {
      // fail-closed: endless questions would wear down the person who answers.
      if (refused.isNews) note(`declined, ${refused.reason}`);
      return DECLINE;
    }
    try {
      return await orAbort(answer(deps, request, { signal, note }), signal);
    } catch (thrown) {
      // A withdrawn question ends even while a hook or person works on it.
      if (signal.aborted) return CANCEL;
      // fail-closed: a question whose answer was lost is declined.
      note(`declined, ${messageOf(thrown)}`);
      return DECLINE;
    } finally {
      limit.leave(request.server);
    }
  };
}

interface Asking {
  readonly signal: AbortSignal;
  note(text: string): void;
}

async function answer(
  deps: ElicitDeps,
  request: ElicitRequest,
  { signal, note }: Asking,
): Promise<ElicitAnswer> {
  const question = questionOf(request);
  if (!question.ok) {
    note(`declined, ${question.error}`);
    return DECLINE;
  }
  const scene = deps.scene(signal);
  const given = await firstAnswer(deps, question.value, { scene, signal, note });
  const fitting = sendable(question.value, given.reply, note);
  const final = await afterHooks(deps, question.value, { ...given, reply: fitting }, scene);
  if (final.reason !== undefined) note(`the answer was changed: ${final.reason}`);
  return sendable(question.value, final, note);
}

interface Given {
  readonly reply: ElicitReply;
  readonly by: AnsweredBy;
}

async function firstAnswer(
  deps: ElicitDeps,
  question: ElicitQuestion,
  { scene, signal, note }: Asking & { readonly scene: Scene },
): Promise<Given> {
  const { server, message, mode, url, elicitationId, requestedSchema } = question;
  const asked = {
    mcp_server_name: server,
    message,
    mode,
    url,
    elicitation_id: elicitationId,
    requested_schema: requestedSchema,
  };
  const heard = (await deps.hooks?.ask(asked, scene)) ?? { kind: 'none' as const };
  if (heard.kind === 'answer') return { reply: heard, by: 'hook' };
  if (heard.kind === 'refused') {
    note(`declined, ${heard.reason}`);
    // A hook's refusal is as final as a person's.
    return { reply: DECLINE, by: 'person' };
  }
  if (deps.ask === undefined) return unanswered(note);
  deps.onAttention?.('asked', question);
  let reply: ElicitReply | undefined;
  try {
    reply = await deps.ask(question, signal);
  } finally {
    deps.onAttention?.(reply?.action ?? 'over', question);
  }
  return reply === undefined ? unanswered(note) : { reply, by: 'person' };
}

function unanswered(note: (text: string) => void): Given {
  note('declined, as no person is there to answer');
  return { reply: DECLINE, by: 'nobody' };
}

async function afterHooks(
  { hooks }: ElicitDeps,
  question: ElicitQuestion,
  { reply, by }: Given,
  scene: Scene,
): Promise<ElicitReply & { readonly reason?: string }> {
  if (hooks === undefined) return reply;
  const { server, mode, elicitationId } = question;
  return await hooks.result(
    {
      mcp_server_name: server,
      action: reply.action,
      content: reply.content,
      mode,
      elicitation_id: elicitationId,
    },
    scene,
    { answeredBy: by },
  );
}

/** Reduces an answer to what the server may get; only an accepted form carries content. */
function sendable(
  question: ElicitQuestion,
  { action, content }: ElicitReply,
  note: (text: string) => void,
): ElicitAnswer {
  if (action === 'cancel') return CANCEL;
  // fail-closed: anything but "accept" or "cancel" declines.
  if (action !== 'accept') return DECLINE;
  if (question.mode === 'url') return { action };
  const checked = checkContent(question.fields, content ?? {});
  if (checked.ok) return { action, content: checked.value };
  // fail-closed: an answer that does not fit the form is not sent.
  note(`declined, the answer does not fit the form: ${checked.error}`);
  return DECLINE;
}

function questionOf(request: ElicitRequest): Result<ElicitQuestion, string> {
  const common = {
    server: request.server,
    message: sliceWhole(request.message, 0, LONGEST_MESSAGE),
    elicitationId: request.elicitationId,
  };
  if (request.mode === 'url') {
    const address = checkElicitUrl(request.url);
    if (!address.ok) return address;
    const { url, host, warnings } = address.value;
    return ok({ ...common, mode: 'url', fields: [], warnings, url, host });
  }
  const fields = readForm(request.requestedSchema);
  if (!fields.ok) return fields;
  const secrets = fields.value.filter(({ secret }) => secret).map(({ name }) => oneLine(name));
  return ok({
    ...common,
    mode: 'form',
    fields: fields.value,
    warnings: secrets.length === 0 ? [] : [secretWarning(secrets)],
    requestedSchema: request.requestedSchema,
  });
}

function secretWarning(names: readonly string[]): string {
  return `It seems to ask for a secret (${names.join(', ')}). Servers must not ask for passwords, keys or tokens this way, and what you type is shown and sent as it is.`;
}

/** The limits per server. */
interface ElicitLimits {
  /** Questions per minute. */
  readonly perMinute: number;
  /** Concurrent open questions. */
  readonly atOnce: number;
}

const DEFAULTS: ElicitLimits = { perMinute: 10, atOnce: 3 };
const MINUTE_MS = 60_000;

class ElicitLimit {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #limits: ElicitLimits;
  readonly #servers = new Map<string, { asked: number[]; open: number; toldAt: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>, limits: Partial<ElicitLimits> = {}) {
    this.#clock = clock;
    this.#limits = { ...DEFAULTS, ...limits };
  }

  /**
   * Reserves a place for one question until `leave`, or returns why not; `isNews` limits the notes to one per
   * minute.
   */
  enter(server: string): { readonly reason: string; readonly isNews: boolean } | undefined {
    const { perMinute, atOnce } = this.#limits;
    const now = this.#clock.monotonic();
    const state = this.#servers.get(server) ?? { asked: [], open: 0, toldAt: -MINUTE_MS };
    this.#servers.set(server, state);
    state.asked = state.asked.filter((at) => now - at < MINUTE_MS);
    const isBusy = state.open >= atOnce;
    if (!isBusy && state.asked.length < perMinute) {
      state.asked.push(now);
      state.open += 1;
      return undefined;
    }
    const isNews = now - state.toldAt >= MINUTE_MS;
    if (isNews) state.toldAt = now;
    const reason = isBusy
      ? `${atOnce} of its questions wait already`
      : `it has asked ${perMinute} times within a minute`;
    return { reason, isNews };
  }

  leave(server: string): void {
    const state = this.#servers.get(server);
    if (state !== undefined) state.open -= 1;
  }
}

interface ElicitAddress {
  /** As the network parses it, without invisible characters. */
  readonly url: string;
  readonly host: string;
  readonly warnings: readonly string[];
}

const LONGEST_URL = 8192;

/**
 * Checks the address that a server wants a person to open: https, or http on this machine, without
 * credentials. fail-closed: any other address is not shown.
 */
function checkElicitUrl(text: string | undefined): Result<ElicitAddress, string> {
  if (text === undefined || text.length > LONGEST_URL || parseUrl(text) === undefined) {
    return err('its address cannot be read');
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    return err('its address holds a name or password in front of the host');
  }
  const isLocal = isLoopback(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) {
    return err('its address is neither https nor on this machine');
  }
  const warnings: string[] = [];
  if (/(^|\.)xn--/.test(url.hostname)) {
    warnings.push('The host is written with letters beyond a to z, which may look like others.');
  }
  if (/^[\d.]+$|^\[/.test(url.hostname) && !isLocal) {
    warnings.push('The host is a number and not a name.');
  }
  return ok({ url: visible(url.href), host: url.host, warnings });
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
