import type { SessionConfig } from '../../config/session-config.js';
import type { Log, SessionEnvironment } from '../../config/session-environment.js';
import type { InputMessage, LoopEvent } from '../../loop/types.js';
import type { Guard } from '../../permissions/gate/guard.js';
import type { Asker } from '../../permissions/gate/types.js';
import { join } from '../../platform/fs/paths.js';
import { stateFiles } from '../../platform/fs/state-files.js';
import { readLines } from '../../platform/fs/transcript-files.js';
import { nodeProcesses } from '../../platform/process/process-stamp.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { SessionNews } from '../../protocol/session-events.js';
import type { AnyTool } from '../../tools/tool.js';
import { inboxAsker, inboxGuard } from '../inbox/asker.js';
import { Inbox } from '../inbox/inbox.js';
import type { ReportWords } from '../runtime/report.js';
import type { AgentRuntime } from '../runtime/runtime.js';
import type { OpenTeams } from '../teams/session-team.js';
import { pollingGuard } from '../tools/polling.js';
import { listAgentsTool, sendMessageTool } from '../tools/send-message.js';
import { waitForAgentsTool } from '../tools/wait-for-agents.js';
import { Deliveries } from './deliveries.js';

const EXPIRY_MINUTES = 30;

export interface ArrivalParts {
  readonly log: Log;
  readonly words: ReportWords;
  runtime(): AgentRuntime;
  /** Shows a text to the person. */
  tell(text: string): void;
  readonly teams?: OpenTeams | undefined;
}

/** Opens deliveries, messages and questions of agents. */
export function openMessaging(
  config: SessionConfig,
  environment: SessionEnvironment,
  parts: ArrivalParts,
) {
  const { log, words, runtime, tell } = parts;
  const { clock } = environment;
  const { sessionId } = log.history;
  const deliveries = new Deliveries({
    sessionId,
    files: { ...stateFiles, readLines },
    processes: nodeProcesses,
    path: config.persist
      ? join(log.store.transcriptPath(sessionId).replace(/\.jsonl$/, ''), 'deliveries.jsonl')
      : undefined,
    keepDirectory: () => log.store.spillDirectory(sessionId),
    words,
    tell: (id, message) => runtime().tell(id, message),
    parentOf: (id) => runtime().roster.find(id)?.ref.parentId,
    entries: async (agentId) =>
      (await log.store.read(sessionId, agentId === MAIN_AGENT.id ? undefined : agentId))?.entries,
    now: clock.now,
    warn: tell,
  });
  const number = (key: string): number | undefined => {
    const value = environment.settings.values.get(key)?.value;
    return typeof value === 'number' ? value : undefined;
  };
  const inbox = new Inbox({ stateDirectory: environment.stateDirectory, now: clock.now });
  const messages = { runtime, deliveries, uuid: clock.uuid };
  const tools: readonly AnyTool[] = [
    parts.teams?.messageTool(messages) ?? sendMessageTool(messages),
    listAgentsTool({ runtime, now: clock.now }),
    waitForAgentsTool({ runtime, deliveries, words }),
  ];
  let owed: readonly InputMessage[] = [];
  return {
    deliveries,
    tools,
    guards: [pollingGuard(() => runtime().roster.running()), inboxGuard] as readonly Guard[],
    /** Questions of background agents go into the inbox as well. */
    asker: (inner: Asker | undefined): Asker | undefined =>
      inboxAsker(inner, {
        inbox,
        sessionId,
        expiryMs: () => (number('portcullis.inbox.expiryMinutes') ?? EXPIRY_MINUTES) * 60_000,
        unattended: () =>
          environment.settings.values.get('portcullis.inbox.unattended')?.value === true,
        self: nodeProcesses.self,
        member: parts.teams?.side.asks,
        now: clock.now,
        newId: () => `q${clock.uuid().replaceAll('-', '').slice(0, 12)}`,
        emit: config.emit,
        warn: tell,
      }),
    /** Called for every event that an agent records. */
    heard(event: LoopEvent | SessionNews): void {
      parts.teams?.heard(event);
      const said = event.type === 'child' ? event.event : event;
      if (said.type === 'input') deliveries.recorded(said.message);
      if (said.type === 'tool_result') {
        const agentId = event.type === 'child' ? event.agent.id : MAIN_AGENT.id;
        deliveries.resultRecorded({ agentId, toolUseId: said.call.id });
      }
    },
    /** Called when the session is resumed. */
    async resumed(): Promise<void> {
      owed = await deliveries.recover((agents) =>
        runtime().roster.reserve(agents.map(({ path }) => path)),
      );
    },
    /** Takes the reports that were still owed, for the first run. */
    takeOwed(): readonly InputMessage[] {
      const taken = owed;
      owed = [];
      return taken;
    },
    close: () => deliveries.close(),
  };
}
