import { messageOf } from '../errors.js';
import { isRecord } from '../lib/own.js';
import { NO_AUTO_MODE, PERMISSION_MODES, type PermissionMode } from '../protocol/permissions.js';
import { ACKNOWLEDGED, ControlError, type Handler, StartFailed, text } from './control-request.js';
import { registrationProblem } from './host-callbacks.js';
import type { Message } from './inbound.js';
import { initializeAnswer } from './initialize.js';

/** Requests that change how the session goes on. */
export const SESSION_HANDLERS: Readonly<Record<string, Handler>> = {
  async initialize(handling, request) {
    const late = readLate(handling.openedWith(), request);
    // Before any await, because the first prompt may be on the next line; and even where the other fields come
    // too late, because the host relies on its hooks.
    handling.callbacks.register(request.hooks);
    if (late.refused.length > 0) {
      const names = late.refused.join(', ');
      throw new ControlError(
        'too_late',
        `initialize: the session is open already without ${names}`,
      );
    }
    const manifests = handling.sdkServers.register(request);
    if (request.perTaskStopAffordance === true) handling.sparesTasks = true;
    const session = await handling.open(request).catch((thrown: unknown) => {
      throw new StartFailed(messageOf(thrown));
    });
    for (const name of late.ignored) {
      const text = `initialize: ${name} has no effect: the session is open already`;
      session.news({ type: 'notice', level: 'warning', text });
    }
    const answer = await initializeAnswer(session);
    handling.onCommandsTold(answer.commands);
    const unknown = handling.callbacks.unknown();
    return {
      response: {
        ...answer,
        hooks_applied: unknown.length === 0,
        ...(unknown.length === 0 ? {} : { hooks_unknown: unknown }),
        ...manifests,
        ...appliedAtLaunch(handling.openedWith(), request),
      },
      beside: {
        pending_permission_requests: handling.channel.open('can_use_tool'),
        pending_elicitation_requests: handling.channel.open('elicitation'),
      },
    };
  },
  async interrupt(handling, request) {
    const { runner, sparesTasks } = handling;
    const session = await runner.session;
    runner.interrupt();
    // fail-closed: where the client cannot stop a single task, an interrupt stops all of them.
    if (!sparesTasks) session?.requests.stopAgents();
    if (request.cancel_queued === true) {
      return { response: { still_queued: [], cancelled: runner.cancelAll() } };
    }
    return { response: { still_queued: runner.queue.all.map(({ message }) => message.uuid) } };
  },
  async set_permission_mode(handling, request) {
    const mode = toMode(request.mode);
    const session = await handling.open({});
    let refused: unknown;
    const then = handling.outlet.collect(() => {
      try {
        session.setMode(mode);
      } catch (thrown) {
        refused = thrown;
      }
    });
    if (refused === undefined) return { response: { mode }, then };
    if (mode === 'bypassPermissions') {
      throw new ControlError('bypass_not_launched', messageOf(refused));
    }
    throw refused;
  },
  async set_model(handling, request) {
    const { model } = request;
    const name = typeof model === 'string' && model !== 'default' ? model : undefined;
    return { response: { model: await (await handling.open({})).setModel(name, 'sdk') } };
  },
  async set_max_thinking_tokens(handling, request) {
    const { max_thinking_tokens: tokens, thinking_display: display } = request;
    const { requests } = await handling.open({});
    requests.setThinking({
      tokens: tokens === undefined ? undefined : wholeNumber(tokens),
      display: display === undefined ? undefined : toDisplay(display),
    });
    return ACKNOWLEDGED;
  },
  async apply_flag_settings(handling, { settings }) {
    if (!isRecord(settings)) throw new ControlError('invalid_request', 'settings is not an object');
    const session = await handling.open({});
    const { model } = settings;
    const applied = await session.requests.applySettings(settings);
    if (!applied.ok) throw new ControlError('invalid_settings', applied.error);
    if (model === undefined) return ACKNOWLEDGED;
    try {
      await session.setModel(typeof model === 'string' ? model : undefined, 'sdk');
    } catch (thrown) {
      // fail-closed: a part that is refused takes the rest back.
      await applied.value.undo();
      throw thrown;
    }
    return ACKNOWLEDGED;
  },
  async rename_session(handling, request) {
    const session = await handling.open({});
    const { session_id: meant } = request;
    if (typeof meant === 'string' && meant !== session.id) {
      throw new ControlError('wrong_session', `this is the session ${session.id}`);
    }
    session.requests.rename(text(request, 'title'));
    return ACKNOWLEDGED;
  },
};

/** Whether the session was opened with the servers and plugins that this request names; later ones load nothing. */
function appliedAtLaunch(opened: Message | undefined, request: Message): Message {
  const isApplied = (name: string): boolean =>
    JSON.stringify(opened?.[name]) === JSON.stringify(request[name]);
  return {
    ...(isRecord(request.mcpServers) && { mcp_servers_applied: isApplied('mcpServers') }),
    ...(Array.isArray(request.plugins) && { plugins_applied: isApplied('plugins') }),
  };
}

const IN_TIME: LateFields = { refused: [], ignored: [] };

/** Where the session is still to be opened, opening it judges the request. */
function readLate(opened: Message | undefined, request: Message): LateFields {
  if (opened === undefined) return IN_TIME;
  const wrong = registrationProblem(request.hooks);
  if (wrong !== undefined) throw new ControlError('invalid_request', `initialize: ${wrong}`);
  return lateFields(opened, request);
}

function wholeNumber(value: unknown): number | null {
  if (value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new ControlError('invalid_request', 'max_thinking_tokens is not a whole number');
}

function toDisplay(value: unknown): 'summarized' | 'omitted' | null {
  if (value === null || value === 'summarized' || value === 'omitted') return value;
  throw new ControlError(
    'invalid_request',
    `thinking_display: ${JSON.stringify(value)} is neither "summarized" nor "omitted"`,
  );
}

function toMode(mode: unknown): PermissionMode {
  const named = mode === 'manual' ? 'default' : mode;
  const known = PERMISSION_MODES.find((candidate) => candidate === named);
  if (known !== undefined) return known;
  const problem =
    mode === 'auto'
      ? `the permission mode "auto" is not supported: ${NO_AUTO_MODE}`
      : `unknown permission mode ${JSON.stringify(mode)}; known are ${PERMISSION_MODES.join(', ')}`;
  throw new ControlError('invalid_mode', problem);
}

/** What a host says of a session that is open already, and that cannot come true any more. */
interface LateFields {
  /** Fields that shape what the session may do and how it answers. */
  readonly refused: readonly string[];
  /** Fields that are a convenience. */
  readonly ignored: readonly string[];
}

const SHAPING: readonly string[] = [
  'agents',
  'skills',
  'jsonSchema',
  'systemPrompt',
  'appendSystemPrompt',
  'planModeInstructions',
];
const CONVENIENT: readonly string[] = ['title', 'forwardSubagentText'];

/**
 * Compares an `initialize` with the one that the session was opened with. A field that is left out
 * asks for no change; hooks and what the host itself offers may come at any time.
 */
function lateFields(opened: Message, initialize: Message): LateFields {
  const isOther = (name: string): boolean => {
    const wanted = initialize[name] ?? undefined;
    return (
      wanted !== undefined &&
      wanted !== false &&
      JSON.stringify(wanted) !== JSON.stringify(opened[name])
    );
  };
  return { refused: SHAPING.filter(isOther), ignored: CONVENIENT.filter(isOther) };
}
