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
  type DeliveryJournal,
  type DeliveryLogFiles,
  deliveryId,
  type EndedRecord,
  type KeptReport,
  keyText,
  openDeliveryJournal,
  type RunKey,
} from './journal.js';
import { type DeliveryWords, deliveriesIn, notification } from './notification.js';
import { recover } from './recovery.js';

export interface DeliveryParts {
  readonly sessionId: string;
  readonly files: Pick<StateFiles, 'writeDurable'> & DeliveryLogFiles;
  readonly processes: Processes;
  /** The journal; absent: the session keeps nothing. */
  readonly path: string | undefined;
  /** Where texts go that are too long to show. */
  keepDirectory(): string;
  readonly words: DeliveryWords;
  /** Says something to an agent. False: it is not there any more. */
  tell(id: string, message: InputMessage): boolean;
  /** Who started an agent. */
  parentOf(id: string): string | undefined;
  entries(agentId: string): Promise<readonly TranscriptEntry[] | undefined>;
  now(): number;
  warn(text: string): void;
}

/** A report on its way. */
export interface Delivery {
  readonly key: RunKey;
  /** Its name in transcripts. */
  readonly id: string;
  readonly report: KeptReport;
  readonly outputFile: string;
}

/** Reports that somebody waits for: they do not arrive by themselves meanwhile. */
export interface Hold {
  /** Those that have come by now, to be carried by the result of this call. */
  take(carrier: Carrier): readonly Delivery[];
  /** What was not taken arrives as usual. */
  release(): void;
}

type Way = 'waiting' | 'told' | 'carried' | 'arrived';

class Journey implements Delivery {
  readonly key: RunKey;
  readonly report: KeptReport;
  readonly outputFile: string;
  way: Way = 'waiting';
  /** Who was told, or is to carry it. */
  to: string;
  carrier: Carrier | undefined;
  readonly #sessionId: string;
  #id: string | undefined;

  constructor(sessionId: string, key: RunKey, ended: EndedRecord) {
    const { report, outputFile, carrier } = ended;
    this.#sessionId = sessionId;
    this.key = key;
    this.report = report;
    this.outputFile = outputFile;
    this.to = report.agent.parentId ?? MAIN_AGENT.id;
    this.carrier = carrier;
  }

  /** Nobody asks for the name of what is the result of the call that started the agent. */
  get id(): string {
    this.#id ??= deliveryId(this.#sessionId, this.key);
    return this.#id;
  }
}

/** Facts about ended runs that are remembered when nothing is owed any more. */
const MOST_REMEMBERED = 1_024;

/** How the reports of agents arrive: each once, whatever crashes. */
export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #journal: DeliveryJournal;
  /** The run that each agent is in or was in last, and how that one ended. */
  readonly #runs = new Map<string, { run: number; end?: AgentEnd; arrived?: boolean }>();
  readonly #journeys = new Map<string, Journey>();
  readonly #holds = new Set<OpenHold>();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#journal = openDeliveryJournal(parts);
  }

  /** An agent is about to run: from here on, a crash is reported as its end. */
  started(task: AgentRun): void {
    const { id, ref, description, outputFile, model, definition } = task;
    const run = (this.#runs.get(id)?.run ?? 0) + 1;
    this.#remember(id, { run });
    this.#journal.write({
      type: 'started',
      id,
      run,
      at: this.#parts.now(),
      by: this.#parts.processes.self(),
      agent: ref,
      description,
      outputFile,
      model,
      resumable: definition.oneShot !== true,
    });
  }

  /** It has ended, whether somebody waits for it or not. Called before anybody is told. */
  ended(report: AgentReport, task: AgentRun): void {
    const { id, ref, outputFile } = task;
    const { parentId, spawnedBy } = ref;
    const waits = !ref.background && parentId !== undefined && spawnedBy !== undefined;
    const key = { id, run: this.#runs.get(id)?.run ?? 1 };
    const journey = this.#note(key, {
      report,
      outputFile,
      carrier: waits ? { agentId: parentId, toolUseId: spawnedBy } : undefined,
    });
    if (waits) journey.way = 'carried';
    // What it was told too late to read goes to whoever is left.
    for (const lost of this.#journeys.values()) {
      if (lost.way === 'told' && lost.to === id) this.#send(lost);
    }
  }

  /** To the one who started the agent, or the nearest one above that still lives. */
  deliver(report: AgentReport, { to, task }: { to: AgentRef; task: AgentRun }): void {
    const key = { id: report.agent.id, run: this.#runs.get(report.agent.id)?.run ?? 1 };
    const journey =
      this.#journeys.get(keyText(key)) ?? this.#note(key, { report, outputFile: task.outputFile });
    if (journey.way !== 'waiting') return;
    journey.to = to.id;
    const hold = [...this.#holds].find((one) => one.wants(to.id, key.id));
    if (hold === undefined) this.#send(journey);
    else hold.come.push(journey);
  }

  /** A message is in an agent's transcript: what it carries has arrived. */
  recorded({ content }: Pick<InputMessage, 'content'>): void {
    if (this.#journeys.size === 0) return;
    for (const id of deliveriesIn(content)) {
      const journey = [...this.#journeys.values()].find((one) => one.id === id);
      if (journey !== undefined) this.#arrived(journey);
    }
  }

  /** The result of a call is in the transcript of an agent. */
  resultRecorded({ agentId, toolUseId }: Carrier): void {
    for (const journey of this.#journeys.values()) {
      const { carrier, way } = journey;
      if (way !== 'carried' || carrier?.toolUseId !== toolUseId) continue;
      if (carrier.agentId === agentId) this.#arrived(journey);
    }
  }

  hold(holder: AgentRef, ids: readonly string[]): Hold {
    const hold = new OpenHold(holder.id, new Set(ids));
    this.#holds.add(hold);
    return {
      take: (carrier) =>
        hold.come.splice(0).map((journey) => {
          journey.way = 'carried';
          journey.carrier = carrier;
          // Before the result is given: whether it arrives is then for the transcript to say.
          this.#journal.write({ type: 'waited', ...journey.key, carrier });
          return journey;
        }),
      release: () => {
        this.#holds.delete(hold);
        for (const journey of hold.come.splice(0)) this.#send(journey);
      },
    };
  }

  /** How the report of an agent stands: told but not read yet, read, or neither. */
  standing(id: string): 'none' | 'on-its-way' | 'arrived' {
    const known = this.#runs.get(id);
    if (known === undefined) return 'none';
    if (known.arrived === true) return 'arrived';
    const way = this.#journeys.get(keyText({ id, run: known.run }))?.way;
    return way === 'told' || way === 'carried' ? 'on-its-way' : 'none';
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
    const runs = await this.#journal.read();
    started?.([...runs.values()].flatMap((run) => run.started?.agent ?? []));
    for (const { key, ended, delivered } of runs.values()) {
      if (key.run < (this.#runs.get(key.id)?.run ?? 0)) continue;
      this.#remember(key.id, { run: key.run, end: ended?.report.end, arrived: delivered });
    }
    const found = await recover({ sessionId, runs: [...runs.values()], processes, entries });
    for (const { key } of found.proven) {
      this.#journal.write({ type: 'delivered', ...key });
      const known = this.#runs.get(key.id);
      if (known?.run === key.run) known.arrived = true;
    }
    const owed = found.owed.flatMap(({ key, ended }) =>
      ended === undefined ? [] : [this.#taken(key, ended)],
    );
    const cutOff = found.cutOff.map(({ run: { key, started }, report }) =>
      this.#note(key, { report, outputFile: started?.outputFile ?? '' }),
    );
    return [...owed, ...cutOff].map((journey) => {
      journey.way = 'told';
      journey.to = MAIN_AGENT.id;
      return this.#messageOf(journey);
    });
  }

  close(): void {
    this.#journal.close();
  }

  /** From here on a crash does not lose it. */
  #note(
    key: RunKey,
    facts: {
      readonly report: AgentReport;
      readonly outputFile: string;
      readonly carrier?: Carrier | undefined;
    },
  ): Journey {
    const { carrier, outputFile } = facts;
    const report = this.#kept(key, facts.report);
    const record: EndedRecord = {
      type: 'ended',
      ...key,
      at: this.#parts.now(),
      by: this.#parts.processes.self(),
      report,
      outputFile,
      carrier,
    };
    this.#journal.write(record);
    return this.#taken(key, record);
  }

  #taken(key: RunKey, ended: EndedRecord): Journey {
    const journey = new Journey(this.#parts.sessionId, key, ended);
    this.#journeys.set(keyText(key), journey);
    this.#remember(key.id, { run: key.run, end: ended.report.end });
    return journey;
  }

  /** A text that is too long to show goes to a file first, whole. */
  #kept(key: RunKey, report: AgentReport): KeptReport {
    const { words, files, keepDirectory, warn } = this.#parts;
    // Of each character it makes two at the most.
    if (report.text.length * 2 <= words.cap) return report;
    const shown = escapeReport(report.text);
    if (shown.length <= words.cap) return report;
    try {
      const file = join(keepDirectory(), `${key.id}.${key.run}.report.txt`);
      files.writeDurable(file, shown);
      return {
        ...report,
        text: report.text.slice(0, words.cap),
        kept: { file, chars: shown.length },
      };
    } catch (thrown) {
      warn(`the long report of ${report.agent.path} stays in the message: ${messageOf(thrown)}`);
      return report;
    }
  }

  /** To the one it is for, or the nearest one above who still listens. */
  #send(journey: Journey): void {
    const message = this.#messageOf(journey);
    const seen = new Set<string>();
    for (let id: string = journey.to; !seen.has(id); ) {
      seen.add(id);
      if (this.#parts.tell(id, message)) {
        journey.way = 'told';
        journey.to = id;
        return;
      }
      id = this.#parts.parentOf(id) ?? MAIN_AGENT.id;
    }
    // Nobody is there: the journal has it, and the session tells it when it is taken up again.
    journey.way = 'waiting';
  }

  #messageOf({ id, report, outputFile }: Journey): InputMessage {
    return notification(report, { id, outputFile, words: this.#parts.words });
  }

  #arrived(journey: Journey): void {
    this.#journeys.delete(keyText(journey.key));
    // fail-closed: a report is in the transcript before it counts as arrived and is never sent again.
    this.#journal.write({ type: 'delivered', ...journey.key });
    const known = this.#runs.get(journey.key.id);
    if (known?.run === journey.key.run) known.arrived = true;
  }

  #remember(id: string, facts: { run: number; end?: AgentEnd; arrived?: boolean }): void {
    this.#runs.delete(id);
    this.#runs.set(id, facts);
    if (this.#runs.size <= MOST_REMEMBERED) return;
    for (const [old, { arrived }] of this.#runs) {
      if (arrived !== true) continue;
      this.#runs.delete(old);
      return;
    }
  }
}

/** Somebody waits for these. */
class OpenHold {
  readonly come: Journey[] = [];
  readonly #holder: string;
  readonly #ids: ReadonlySet<string>;

  constructor(holder: string, ids: ReadonlySet<string>) {
    this.#holder = holder;
    this.#ids = ids;
  }

  wants(receiver: string, id: string): boolean {
    return receiver === this.#holder && this.#ids.has(id);
  }
}
