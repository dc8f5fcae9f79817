import { messageOf } from '../../errors.js';
import { sliceWhole } from '../../lib/text/truncate.js';
import type { LoopEvent, ModelAnswer } from '../../loop/types.js';
import { createAppendLog } from '../../platform/fs/append-log.js';
import { join } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import {
  type AssistantBlock,
  addUsage,
  type ToolResultBlock,
  textOf,
  type Usage,
  ZERO_USAGE,
} from '../../protocol/content.js';
import type { SessionNews, TaskUsage } from '../../protocol/session-events.js';
import type { TranscriptEntry } from '../../protocol/transcript.js';
import { refWithLimits } from '../limits/limits.js';
import type { AgentHost } from './host.js';
import { type AgentAccount, type AgentReport, statusOf } from './report.js';
import type { AgentRun, ChildOutput } from './run.js';

/** The type of the first entry in an agent's transcript. */
export const AGENT_MARK = 'agent_started';

/** Counts and reports an agent's activity. */
export class AgentLog {
  readonly #host: AgentHost;
  readonly #run: AgentRun;
  readonly #started: number;
  #turns = 0;
  #toolUses = 0;
  #usage: Usage = ZERO_USAGE;
  #lastTokens = 0;
  readonly #models = new Set<string>();
  lastText = '';

  constructor(host: AgentHost, run: AgentRun) {
    this.#host = host;
    this.#run = run;
    this.#started = host.environment.clock.monotonic();
  }

  /** The facts needed to resume the agent. */
  head() {
    const { ref, definition, description, model, once, plan } = this.#run;
    return {
      type: AGENT_MARK,
      agent: refWithLimits(ref, definition),
      description,
      model,
      above: plan.above,
      ...(once ? { once: true } : {}),
    };
  }

  answer({ usage, model, message }: ModelAnswer): void {
    this.#turns++;
    this.#usage = addUsage(this.#usage, usage);
    this.#lastTokens =
      usage.input_tokens +
      usage.output_tokens +
      usage.cache_creation_input_tokens +
      usage.cache_read_input_tokens;
    this.#models.add(model);
    const text = textOf(message.content);
    if (text.trim() !== '') this.lastText = text;
  }

  event(event: LoopEvent): void {
    const { ref, plan } = this.#run;
    switch (event.type) {
      case 'answer':
        for (const block of event.answer.message.content) this.#tellOf(block);
        break;
      case 'tool_result':
        plan.output.log?.append(resultLine(event.result.block));
        break;
      case 'input':
      case 'retry':
        break;
      default:
        return;
    }
    emit(this.#host, { type: 'child', agent: ref, event });
  }

  account(): AgentAccount {
    const { path } = this.#run.ref;
    const { unpricedRequests, costUsd } = this.#host.model.ledger.of(path);
    return {
      agent: this.#run.ref,
      turns: this.#turns,
      toolUses: this.#toolUses,
      usage: this.#usage,
      costUsd: unpricedRequests > 0 ? undefined : costUsd,
      models: [...this.#models],
      seconds: (this.#host.environment.clock.monotonic() - this.#started) / 1000,
      lastTokens: this.#lastTokens,
    };
  }

  #tellOf(block: AssistantBlock): void {
    const { ref, description, plan } = this.#run;
    const line = blockLine(block);
    if (line !== undefined) plan.output.log?.append(line);
    if (block.type !== 'tool_use') return;
    this.#toolUses++;
    const usage = taskUsage(this.account());
    const lastTool = block.name;
    emit(this.#host, { type: 'task_progress', agent: ref, description, usage, lastTool });
  }
}

function emit({ heard, config }: AgentHost, event: LoopEvent | SessionNews): void {
  heard(event);
  config.emit(event);
}

function taskUsage({ lastTokens = 0, toolUses, seconds }: AgentAccount): TaskUsage {
  return { totalTokens: lastTokens, toolUses, durationMs: Math.round(seconds * 1000) };
}

export function emitStarted(host: AgentHost, { id, ref, description, plan }: AgentRun): void {
  const { prompt, toolUseId } = plan.request;
  if (ref.background) emitBackground(host);
  emit(host, { type: 'task_started', taskId: id, toolUseId, description, agent: ref, prompt });
}

export function emitFinished(host: AgentHost, run: AgentRun, report: AgentReport): void {
  const { end, account, agent } = report;
  const status = statusOf(end);
  emit(host, {
    type: 'task_updated',
    taskId: run.id,
    status: status === 'stopped' ? 'killed' : status,
    endTime: host.environment.clock.now(),
    ...(status === 'failed' && 'reason' in end ? { error: end.reason } : {}),
  });
  if (agent.background) emitBackground(host);
  const by = 'by' in end ? { by: end.by } : {};
  emit(host, {
    type: 'task_finished',
    taskId: run.id,
    toolUseId: agent.spawnedBy ?? '',
    status,
    ...(end.kind === 'done' ? {} : { end: { kind: end.kind, ...by, reason: end.reason } }),
    outputFile: run.outputFile,
    summary: run.description,
    usage: taskUsage(account),
  });
}

function emitBackground(host: AgentHost): void {
  const background = host.roster.running().filter(({ ref }) => ref.background);
  const tasks = background.map(({ id, description, ref }) => ({
    taskId: id,
    taskType: 'local_agent' as const,
    description,
    agentType: ref.type,
  }));
  emit(host, { type: 'background_tasks', tasks });
}

/** Where the agent's output can be read while it runs. */
export function outputFor(
  { log: { store, history }, config, hooks }: AgentHost,
  { id, background }: AgentRef,
): ChildOutput {
  // The result of a foreground call carries the report, so the transcript suffices as output.
  if (!background && config.persist && config.store === undefined)
    return { path: store.transcriptPath(history.sessionId, id) };
  const path = join(store.spillDirectory(history.sessionId), `${id}.output`);
  return { path, log: outputLog(path, hooks.tell) };
}

/** A file that grows with the agent's output; losing it loses nothing essential. */
function outputLog(path: string, tell: (text: string) => void): ChildOutput['log'] {
  const log = createAppendLog(path);
  let isLost = false;
  return {
    append(text) {
      if (isLost || text === '') return;
      try {
        log.append(text.split('\n'));
      } catch (thrown) {
        isLost = true;
        tell(messageOf(thrown));
      }
    },
    close: () => log.close(),
  };
}

/** Shown characters of an input or a result. */
const SHOWN = 500;

/** A block of an answer as output for people; undefined when it is not shown. */
function blockLine(block: AssistantBlock): string | undefined {
  if (block.type === 'text') return block.text;
  if (block.type !== 'tool_use') return undefined;
  return `→ ${block.name} ${sliceWhole(JSON.stringify(block.input), 0, SHOWN)}`;
}

function resultLine({ content, is_error }: ToolResultBlock): string {
  const text = typeof content === 'string' ? content : textOf(content);
  return `${is_error === true ? '✗' : '✓'} ${sliceWhole(text, 0, SHOWN)}`;
}

/** The same output from the transcript of an agent without an output file. */
export function outputOf(entries: readonly TranscriptEntry[]): string {
  const lines = entries.flatMap((entry) => {
    if (entry.type === 'assistant') return entry.message.content.flatMap((b) => blockLine(b) ?? []);
    if (entry.type !== 'user' || typeof entry.message.content === 'string') return [];
    return entry.message.content.flatMap((block) =>
      block.type === 'tool_result' ? [resultLine(block)] : [],
    );
  });
  return lines.map((line) => `${line}\n`).join('');
}
