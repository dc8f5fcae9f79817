import { orAbort } from '../../lib/abort.js';
import { err, ok, type Result } from '../../lib/result.js';
import { abortableDelay } from '../../platform/turns.js';
import type { Message } from '../../protocol/content.js';
import type { ModelClient, ModelEvent, ModelRequest } from '../client.js';
import { ABORTED, failureOfStatus } from '../failures.js';
import { parseScript, type Reply, type Script } from './format.js';
import { eventsOf, type RequestFacts, ScriptPlayer } from './player.js';

export interface ScriptedClient extends ModelClient {
  /** Requests without a reply and replies without a request; empty when all went as written. */
  problems(): string[];
}

/** A model that plays a script: for tests, demonstrations and runs without a network. */
export function scriptedClient(script: Script): ScriptedClient {
  const player = new ScriptPlayer(script);

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    if (signal.aborted) {
      yield { type: 'failure', failure: ABORTED };
      return;
    }
    const played = player.play(factsOf(request));
    if (!played.ok) {
      yield {
        type: 'failure',
        failure: {
          kind: 'invalid_request',
          message: played.problem,
          remedy: 'Add the missing reply to the script.',
          retryable: false,
        },
      };
      return;
    }
    try {
      yield* playReply(played.reply, { serial: played.serial, model: request.model, signal });
    } catch {
      // Waiting ends early for one reason only.
      yield { type: 'failure', failure: ABORTED };
    }
  }

  return { provider: 'scripted', stream, problems: () => player.problems() };
}

/** Reads the script that PORTCULLIS_SCRIPT names. */
export async function loadScript(
  file: string,
  readText: (file: string) => Promise<string>,
): Promise<Result<Script, string>> {
  try {
    const parsed = parseScript(await readText(file), file);
    return parsed.ok ? ok(parsed.value) : parsed;
  } catch (thrown) {
    return err(
      `the script ${file} cannot be read: ${thrown instanceof Error ? thrown.message : thrown}`,
    );
  }
}

async function* playReply(
  reply: Exclude<Reply, string>,
  options: { readonly serial: number; readonly model: string; readonly signal: AbortSignal },
): AsyncGenerator<ModelEvent> {
  const { signal, model } = options;
  if (reply.delayMs !== undefined) await abortableDelay(reply.delayMs, signal);
  if (reply.serve?.misbehave === 'hang') await untilAborted(signal);
  if (reply.error !== undefined) {
    yield { type: 'failure', failure: scriptedFailure(reply.error, model) };
    return;
  }
  const events = eventsOf(reply, options);
  const kept = reply.cutStream === true ? events.slice(0, Math.ceil(events.length / 2)) : events;
  for (const event of kept) {
    if (signal.aborted) throw signal.reason;
    yield event;
    if (reply.serve?.misbehave === 'hang_midway' && event.type === 'content_block_start') {
      await untilAborted(signal);
    }
  }
  if (reply.cutStream === true) {
    yield {
      type: 'failure',
      failure: {
        kind: 'connection',
        message: 'the stream ended in the middle of the answer',
        retryable: true,
      },
    };
  }
}

function scriptedFailure(error: NonNullable<Exclude<Reply, string>['error']>, model: string) {
  const { status, type, message, retryAfterMs } = error;
  const body = JSON.stringify({
    error: { type: type ?? 'api_error', message: message ?? `scripted error ${status}` },
  });
  const headers: Record<string, string> = {};
  if (retryAfterMs !== undefined) headers['retry-after-ms'] = String(retryAfterMs);
  return failureOfStatus(
    { status, headers, body, model, now: 0 },
    { baseUrl: 'the script', baseUrlVariable: 'PORTCULLIS_SCRIPT', keyVariables: [], hasKey: true },
  );
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return orAbort(new Promise<never>(() => {}), signal);
}

function factsOf(request: ModelRequest): RequestFacts {
  const users = request.messages.filter((message) => message.role === 'user').map(messageText);
  return {
    model: request.model,
    system: request.system.map((block) => block.text).join('\n'),
    firstUser: users[0] ?? '',
    lastUser: users.at(-1) ?? '',
    anyUser: users.join('\n'),
    tools: request.tools.map((tool) => tool.name),
  };
}

function messageText(message: Message): string {
  return message.content
    .map((block) => {
      if (block.type === 'text') return block.text;
      if (block.type !== 'tool_result') return '';
      if (typeof block.content === 'string') return block.content;
      return block.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    })
    .join('\n');
}
