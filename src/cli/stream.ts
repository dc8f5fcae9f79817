import { PortcullisError } from '../errors.js';
import { openSession } from '../harness.js';
import { createFramer } from '../server/frames.js';
import { serveStream } from '../server/stream-json.js';
import { encodeFrame, type Frame } from '../server/wire.js';
import { isRecord } from '../util/own.js';
import { withDebug } from './debug.js';
import { EXIT } from './exit-code.js';
import type { SessionFields } from './options.js';
import type { PrintDeps } from './print.js';

/** A session driven over JSON lines, by an SDK or a script. Exit codes as the contract says: 0 or 1. */
export async function runStream(deps: PrintDeps): Promise<number> {
  const { options, output, config } = deps;
  const write = (frame: Frame): void => output.out(encodeFrame(frame));
  let sessionId = '';
  const framer = createFramer({
    sessionId: () => sessionId,
    partialMessages: options.partialMessages,
    replayPrompts: options.replayPrompts,
    stateChanges: config.env.CLAUDE_CODE_SDK_READS_SESSION_STATE === '1',
    decisions: options.decisions,
    hookEvents: options.hookEvents,
    uuid: deps.uuid,
  });
  process.stdin.setEncoding('utf8');
  const { lastRun, inputError } = await serveStream({
    input: process.stdin as AsyncIterable<string>,
    write,
    frames: framer,
    uuid: deps.uuid,
    async open(initialize, { asker, callbacks, elicit, mcpBridge, mcpEntries, emit }) {
      const session = await openSession({
        ...config,
        ...promptFields(initialize),
        ...(isRecord(initialize.jsonSchema) ? { jsonSchema: initialize.jsonSchema } : {}),
        ...agentFields(config.agents, initialize.agents),
        emit: withDebug(output, emit),
        callbacks,
        elicit,
        mcpBridge,
        mcpConfig: [...(config.mcpConfig ?? []), ...hostTable(mcpEntries())],
        mayDefer: true,
        ...(options.asksOverStdio ? { asker } : {}),
      });
      sessionId = session.id;
      deps.onOpen(session);
      return session;
    },
  });
  if (inputError !== undefined) {
    output.warn(inputError.message);
    return EXIT.error;
  }
  const reason = lastRun?.outcome.reason.kind;
  return reason === undefined || ENDED_WELL.has(reason) ? EXIT.done : EXIT.error;
}

const ENDED_WELL: ReadonlySet<string> = new Set([
  'completed',
  'finished',
  'hook_stopped',
  'stop_prevented',
  'prompt_blocked',
  'tool_deferred',
]);

/** Those of the host beside those of the flag; of one name the host's. */
function agentFields(flag: HostAgents, given: unknown): { readonly agents?: HostAgents } {
  if (given === undefined || given === null) return {};
  // fail-closed: limits that it was to give its agents would be lost.
  if (!isRecord(given)) throw new PortcullisError('usage', 'initialize: agents is no object');
  return { agents: { ...(isRecord(flag) ? flag : {}), ...given } };
}

type HostAgents = SessionFields['agents'];

/** A table of servers, where the host has any. */
function hostTable(
  entries: Readonly<Record<string, unknown>>,
): readonly Readonly<Record<string, unknown>>[] {
  return Object.keys(entries).length === 0 ? [] : [entries];
}

/** The host's system prompt wins over the flags. */
function promptFields(initialize: Readonly<Record<string, unknown>>): {
  systemPrompt?: readonly string[];
  appendSystemPrompt?: string;
} {
  const { systemPrompt, appendSystemPrompt } = initialize;
  return {
    ...(Array.isArray(systemPrompt)
      ? { systemPrompt: systemPrompt.filter((part) => typeof part === 'string') }
      : {}),
    ...(typeof appendSystemPrompt === 'string' ? { appendSystemPrompt } : {}),
  };
}
