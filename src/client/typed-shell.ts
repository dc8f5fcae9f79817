import type { AgentSession } from '../app.js';
import { messageOf } from '../errors.js';
import { MAIN_AGENT } from '../protocol/agent-ref.js';
import type { SessionEvent } from './events.js';

interface ShellHost {
  emit(event: SessionEvent): void;
  uuid(): string;
}

/** Runs a command that a person typed and shows it to all clients as a tool call. */
export async function runTypedShell(
  host: ShellHost,
  session: AgentSession,
  command: string,
): Promise<void> {
  const toolUseId = `typed_${host.uuid()}`;
  const call = { toolUseId, tool: 'Bash', input: { command }, agent: MAIN_AGENT };
  host.emit({ type: 'shell', call });
  try {
    const result = await session.shell({ uuid: host.uuid(), toolUseId, command });
    host.emit({ type: 'shell', call, result });
  } catch (thrown) {
    const content = messageOf(thrown);
    const block = { type: 'tool_result', tool_use_id: toolUseId, content, is_error: true } as const;
    host.emit({ type: 'shell', call, result: { block, uuid: host.uuid() } });
    throw thrown;
  }
}
