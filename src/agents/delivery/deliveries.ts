import { messageOf } from '../../errors.js';
import type { InputMessage } from '../../loop/types.js';
import { join } from '../../platform/fs/paths.js';
import type { StateFiles } from '../../platform/fs/state-files.js';
import type { Processes } from '../../platform/process/process-stamp.js';
import { type AgentRef, MAIN_AGENT } from '../../protocol/agent-ref.js';
import type { TranscriptEntry } from '../../protocol/transcript.js';
import { escapeReport } from '../runtime/escape-tags.js';
import type { AgentEnd, AgentReport } from '../runtime/report.js';
import type { AgentRun } from '../runtime/run.js';
import {
  type Carrier,
  DeliveryJournal,
  deliveryId,
  type EndedRecord,
  type JournalParts,
  type KeptReport,
  keyText,
  type RunKey,
} from './journal.js';
import { type DeliveryWords, deliveryIds, notification } from './notification.js';
import { recover } from './recovery.js';

export interface DeliveryParts extends JournalParts {
  readonly sessionId: string;
  readonly files: Pick<StateFiles, 'writeDurable'> & JournalParts['files'];
  readonly processes: Processes;
  /** A directory for texts that are too long to show. */
  keepDirectory(): string;
  readonly words: DeliveryWords;
  /** Sends a message to an agent; false when the agent has ended. */
  tell(id: string, message: InputMessage): boolean;
  /** The agent that started another one. */
  parentOf(id: string): string | undefined;
  entries(agentId: string): Promise<readonly TranscriptEntry[] | undefined>;
  now(): number;
}

/** A report that has not arrived yet. */
export interface Delivery {
  readonly key: RunKey;
  readonly id: string;
  readonly report: KeptReport;
  readonly outputFile: string;
  state: 'waiting' | 'told' | 'carried';
  /** The agent that was sent the report or whose call result is to carry it. */
  to: string;
  carrier: Carrier | undefined;
}

/** Reports that a call waits for, which are not delivered as messages meanwhile. */
export interface Hold {
  /** Takes the reports that have come, to be carried by the result of this call. */
  take(carrier: Carrier): readonly Delivery[];
  /** Delivers the remaining reports as messages. */
  release(): void;
}

interface OpenHold {
  readonly holder: string;
  readonly ids: readonly string[];
  readonly come: Delivery[];
}

/** Delivers the reports of agents, each exactly once, even across crashes. */
export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #journal: DeliveryJournal;
  /** The current or last run of each agent, and how it ended. */
  readonly #runs = new Map<string, { run: number; end?: AgentEnd; arrived?: boolean }>();
  readonly #open = new Map<string, Delivery>();
  readonly #holds = new Set<OpenHold>();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#journal = new DeliveryJournal(parts);
  }

  /** Records that an agent starts; from here on a crash is reported as its end. */
  started(task: AgentRun): void {
    const { id, ref: agent, description, outputFile, model, definition } = task;
    const run = (this.#runs.get(id)?.run ?? 0) + 1;
    const resumable = definition.oneShot !== true;
    this.#runs.set(id, { run });
    const at = this.#parts.now();
    const by = this.#parts.processes.self();
    const facts = { id, run, at, by, agent, description, outputFile, model, resumable };
    this.#journal.write({ type: 'started', ...facts });
  }

  /** Records the end of an agent, before anyone is notified of it. */
  ended(report: AgentReport, { id, ref, outputFile }: AgentRun): void {
    const { parentId: agentId, spawnedBy: toolUseId } = ref;
    const waits = !ref.background && agentId !== undefined && toolUseId !== undefined;
    const delivery = this.#note(this.#keyOf(id), {
      report,
      outputFile,
      carrier: waits ? { agentId, toolUseId } : undefined,
    });
    if (waits) delivery.state = 'carried';
    // Messages that the ended agent did not read go to another ancestor.
    for (const lost of this.#open.values()) {
      if (lost.state === 'told' && lost.to === id) this.#send(lost);
    }
  }

  /** Delivers a report to the agent's parent, or to its nearest living ancestor. */
  deliver(report: AgentReport, { to, task }: { to: AgentRef; task: AgentRun }): void {
    const key = this.#keyOf(report.agent.id);
    const delivery =
      this.#open.get(keyText(key)) ?? this.#note(key, { report, outputFile: task.outputFile });
    if (delivery.state !== 'waiting') return;
    delivery.to = to.id;
    const hold = [...this.#holds].find(
      ({ holder, ids }) => holder === to.id && ids.includes(key.id),
    );
    if (hold === undefined) this.#send(delivery);
    else hold.come.push(delivery);
  }

  /** Called when a message is recorded in a transcript: its reports have arrived. */
  recorded({ content }: Pick<InputMessage, 'content'>): void {
    if (this.#open.size === 0) return;
    const ids = deliveryIds(content);
    for (const delivery of this.#open.values()) {
      if (ids.includes(delivery.id)) this.#arrived(delivery);
    }
  }

  /** Called when the result of a call is recorded in a transcript. */
  resultRecorded({ agentId, toolUseId }: Carrier): void {
    for (const delivery of this.#open.values()) {
      const { carrier, state } = delivery;
      if (state !== 'carried' || carrier?.toolUseId !== toolUseId) continue;
      if (carrier.agentId === agentId) this.#arrived(delivery);
    }
  }

  hold(holder: AgentRef, ids: readonly string[]): Hold {
    const hold: OpenHold = { holder: holder.id, ids, come: [] };
    this.#holds.add(hold);
    return {
      take: (carrier) =>
        hold.come.splice(0).map((delivery) => {
          delivery.state = 'carried';
          delivery.carrier = carrier;
          // Written before the result is returned, so that after a crash the transcript decides whether it arrived.
          this.#journal.write({ type: 'waited', ...delivery.key, carrier });
          return delivery;
        }),
      release: () => {
        this.#holds.delete(hold);
        for (const delivery of hold.come.splice(0)) this.#send(delivery);
      },
    };
  }

  /** Whether an agent's report was sent but not read, was read, or neither. */
  standing(id: string): 'none' | 'on-its-way' | 'arrived' {
    if (this.#runs.get(id)?.arrived === true) return 'arrived';
    const state = this.#open.get(keyText(this.#keyOf(id)))?.state ?? 'waiting';
    return state === 'waiting' ? 'none' : 'on-its-way';
  }

  /** How an agent ended, possibly in an earlier process. */
  endOf(id: string): AgentEnd | undefined {
    return this.#runs.get(id)?.end;
  }

  /**
   * Returns the reports that a resumed session still owes, as messages for the main agent. `started`
   * receives all agents that were ever started in the session.
   */
  async recover(started?: (agents: readonly AgentRef[]) => void): Promise<readonly InputMessage[]> {
    const { sessionId, processes, entries } = this.#parts;
    const runs = [...(await this.#journal.read()).values()];
    started?.(runs.flatMap((run) => run.started?.agent ?? []));
    for (const { key, ended, delivered } of runs) {
      if (key.run < this.#keyOf(key.id).run && this.#runs.has(key.id)) continue;
      this.#runs.set(key.id, { run: key.run, end: ended?.report.end, arrived: delivered });
    }
    const found = await recover({ sessionId, runs, processes, entries });
    for (const { key } of found.proven) this.#noteArrival(key);
    const owed = found.owed.map((ended) => this.#take(ended));
    const cutOff = found.cutOff.map(({ started: { id, run, outputFile }, report }) =>
      this.#note({ id, run }, { report, outputFile }),
    );
    return [...owed, ...cutOff].map((delivery) => {
      delivery.state = 'told';
      delivery.to = MAIN_AGENT.id;
      return this.#messageOf(delivery);
    });
  }

  close(): void {
    this.#journal.close();
  }

  #keyOf(id: string): RunKey {
    return { id, run: this.#runs.get(id)?.run ?? 1 };
  }

  /** Writes the report to the journal, so that a crash does not lose it. */
  #note(
    key: RunKey,
    { report, ...facts }: Pick<EndedRecord, 'report' | 'outputFile' | 'carrier'>,
  ): Delivery {
    const { now, processes } = this.#parts;
    const kept = this.#kept(key, report);
    const by = processes.self();
    const record: EndedRecord = { type: 'ended', ...key, at: now(), by, report: kept, ...facts };
    this.#journal.write(record);
    return this.#take(record);
  }

  #take({ id, run, report, outputFile, carrier }: EndedRecord): Delivery {
    const key = { id, run };
    const delivery: Delivery = {
      key,
      id: deliveryId(this.#parts.sessionId, key),
      report,
      outputFile,
      state: 'waiting',
      to: report.agent.parentId ?? MAIN_AGENT.id,
      carrier,
    };
    this.#open.set(keyText(key), delivery);
    this.#runs.set(id, { run, end: report.end });
    return delivery;
  }

  /** A text that is too long to show is first written to a file as a whole. */
  #kept(key: RunKey, report: AgentReport): KeptReport {
    const { words, files, keepDirectory, warn } = this.#parts;
    const shown = escapeReport(report.text);
    if (shown.length <= words.cap) return report;
    try {
      const file = join(keepDirectory(), `${key.id}.${key.run}.report.txt`);
      files.writeDurable(file, shown);
      const kept = { file, chars: shown.length };
      return { ...report, text: report.text.slice(0, words.cap), kept };
    } catch (thrown) {
      warn(`the long report of ${report.agent.path} stays in the message: ${messageOf(thrown)}`);
      return report;
    }
  }

  /** Sends a report to its receiver, or to the nearest ancestor that still runs. */
  #send(delivery: Delivery): void {
    const message = this.#messageOf(delivery);
    const seen = new Set<string>();
    for (let id: string = delivery.to; !seen.has(id); ) {
      seen.add(id);
      if (this.#parts.tell(id, message)) {
        delivery.state = 'told';
        delivery.to = id;
        return;
      }
      id = this.#parts.parentOf(id) ?? MAIN_AGENT.id;
    }
    // Without a receiver the report stays in the journal and is delivered when the session is resumed.
    delivery.state = 'waiting';
  }

  #messageOf({ id, report, outputFile }: Delivery): InputMessage {
    return notification(report, { id, outputFile, words: this.#parts.words });
  }

  #arrived({ key }: Delivery): void {
    this.#open.delete(keyText(key));
    this.#noteArrival(key);
  }

  /** fail-closed: a report counts as arrived only once it is in the transcript. */
  #noteArrival({ id, run }: RunKey): void {
    this.#journal.write({ type: 'delivered', id, run });
    const known = this.#runs.get(id);
    if (known?.run === run) known.arrived = true;
  }
}
