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
import { type DeliveryWords, deliveriesIn, notification } from './notification.js';
import { recover } from './recovery.js';

export interface DeliveryParts extends JournalParts {
  readonly sessionId: string;
  readonly files: Pick<StateFiles, 'writeDurable'> & JournalParts['files'];
  readonly processes: Processes;
  /** Where texts go that are too long to show. */
  keepDirectory(): string;
  readonly words: DeliveryWords;
  /** Says something to an agent. False: it is not there any more. */
  tell(id: string, message: InputMessage): boolean;
  /** Who started an agent. */
  parentOf(id: string): string | undefined;
  entries(agentId: string): Promise<readonly TranscriptEntry[] | undefined>;
  now(): number;
}

/** A report on its way. */
export interface Delivery {
  readonly key: RunKey;
  /** Its name in transcripts. */
  readonly id: string;
  readonly report: KeptReport;
  readonly outputFile: string;
  state: 'waiting' | 'told' | 'carried';
  /** Who was told, or is to carry it. */
  to: string;
  carrier: Carrier | undefined;
}

/** Reports that somebody waits for: they do not arrive by themselves meanwhile. */
export interface Hold {
  /** Those that have come by now, to be carried by the result of this call. */
  take(carrier: Carrier): readonly Delivery[];
  /** What was not taken arrives as usual. */
  release(): void;
}

interface OpenHold {
  readonly holder: string;
  readonly ids: readonly string[];
  readonly come: Delivery[];
}

/** How the reports of agents arrive: each once, whatever crashes. */
export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #journal: DeliveryJournal;
  /** The run that each agent is in or was in last, and how that one ended. */
  readonly #runs = new Map<string, { run: number; end?: AgentEnd; arrived?: boolean }>();
  readonly #open = new Map<string, Delivery>();
  readonly #holds = new Set<OpenHold>();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#journal = new DeliveryJournal(parts);
  }

  /** An agent is about to run: from here on, a crash is reported as its end. */
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

  /** It has ended, whether somebody waits for it or not. Called before anybody is told. */
  ended(report: AgentReport, { id, ref, outputFile }: AgentRun): void {
    const { parentId: agentId, spawnedBy: toolUseId } = ref;
    const waits = !ref.background && agentId !== undefined && toolUseId !== undefined;
    const delivery = this.#note(this.#keyOf(id), {
      report,
      outputFile,
      carrier: waits ? { agentId, toolUseId } : undefined,
    });
    if (waits) delivery.state = 'carried';
    // What it was told too late to read goes to whoever is left.
    for (const lost of this.#open.values()) {
      if (lost.state === 'told' && lost.to === id) this.#send(lost);
    }
  }

  /** To the one who started the agent, or the nearest one above that still lives. */
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

  /** A message is in an agent's transcript: what it carries has arrived. */
  recorded({ content }: Pick<InputMessage, 'content'>): void {
    if (this.#open.size === 0) return;
    const ids = deliveriesIn(content);
    for (const delivery of this.#open.values()) {
      if (ids.includes(delivery.id)) this.#arrived(delivery);
    }
  }

  /** The result of a call is in the transcript of an agent. */
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
          // Before the result is given: whether it arrives is then for the transcript to say.
          this.#journal.write({ type: 'waited', ...delivery.key, carrier });
          return delivery;
        }),
      release: () => {
        this.#holds.delete(hold);
        for (const delivery of hold.come.splice(0)) this.#send(delivery);
      },
    };
  }

  /** How the report of an agent stands: told but not read yet, read, or neither. */
  standing(id: string): 'none' | 'on-its-way' | 'arrived' {
    if (this.#runs.get(id)?.arrived === true) return 'arrived';
    const state = this.#open.get(keyText(this.#keyOf(id)))?.state ?? 'waiting';
    return state === 'waiting' ? 'none' : 'on-its-way';
  }

  /** How an agent ended that may be older than this process. */
  endOf(id: string): AgentEnd | undefined {
    return this.#runs.get(id)?.end;
  }

  /**
   * The session is taken up again: what it still owes, as messages for the main agent. `started` is told of all agents
   * that were ever started in it.
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

  /** From here on a crash does not lose it. */
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

  /** A text that is too long to show goes to a file first, whole. */
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

  /** To the one it is for, or the nearest one above who still listens. */
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
    // Nobody is there: the journal has it, and the session tells it when it is taken up again.
    delivery.state = 'waiting';
  }

  #messageOf({ id, report, outputFile }: Delivery): InputMessage {
    return notification(report, { id, outputFile, words: this.#parts.words });
  }

  #arrived({ key }: Delivery): void {
    this.#open.delete(keyText(key));
    this.#noteArrival(key);
  }

  /** fail-closed: a report is in the transcript before it counts as arrived and is never sent again. */
  #noteArrival({ id, run }: RunKey): void {
    this.#journal.write({ type: 'delivered', id, run });
    const known = this.#runs.get(id);
    if (known?.run === run) known.arrived = true;
  }
}
