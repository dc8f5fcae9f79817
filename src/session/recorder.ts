import type { Clock } from '../env/clock.js';
import type { InputMessage, ModelAnswer, ToolCallResult } from '../loop/types.js';
import type { AssistantBlock, Message, ToolUseBlock, UserBlock } from '../protocol/content.js';
import { textOf, ZERO_USAGE } from '../protocol/content.js';
import type { PermissionMode } from '../protocol/permissions.js';
import type {
  AssistantEntry,
  AttachmentEntry,
  EntryBase,
  MetaLine,
  UserEntry,
} from '../protocol/transcript.js';
import { isoTime } from '../util/iso-time.js';
import { sliceWhole } from '../util/truncate.js';
import { type CommonFields, Envelope, LinkedEntry, type OwnFields } from './linked-entry.js';
import type { NewLine, SessionStore } from './store.js';

export interface RecorderOptions {
  readonly store: SessionStore;
  readonly sessionId: string;
  readonly clock: Clock;
  /** A function where the shell may move it. */
  readonly cwd: string | (() => string);
  readonly version: string;
  readonly entrypoint?: string;
  readonly gitBranch?: string;
  /** False: entries are linked but not stored. */
  readonly persist?: boolean;
  /** Where the chain goes on: `lastUuid` of what was resumed. */
  readonly parentUuid?: string | null;
  /** Of the entries that are in the transcript already. */
  readonly usedUuids?: Iterable<string>;
  /** Records a subagent into a file of its own. */
  readonly agentId?: string;
  /** What the resumed transcript already said, to be repeated near its end. */
  readonly title?: string;
  readonly lastPrompt?: string;
  readonly agent?: string;
}

/** Turns what happens in the loop into linked transcript entries. Each call is one append. */
export interface Recorder {
  /** The entry that the next one will hang on. */
  readonly head: string | null;
  /** Goes back to an earlier entry: what comes next is another branch. Nothing is taken out of the transcript. */
  goTo(uuid: string | null): void;
  input(message: RecordedInput): void;
  /** One entry per content block, all sharing the message's id. */
  answer(answer: RecordedAnswer): void;
  result(call: ToolUseBlock, result: RecordedResult): void;
  /**
   * A new beginning of the chain: the boundary, then the history as it is from now on. Returns the
   * uuids of the boundary and of the entry with the summary.
   */
  compactBoundary(compaction: RecordedCompaction): {
    readonly uuid: string;
    readonly summaryUuid: string;
  };
  /** What was said elsewhere and is gone on with here. */
  history(messages: readonly Message[]): void;
  attachment(attachment: AttachmentEntry['attachment']): void;
  /** Said to people, never to the model. */
  note(text: string): void;
  title(text: string): void;
  lastPrompt(text: string): void;
  /** The agent that the main conversation runs as from now on. */
  runsAs(agent: string): void;
}

export type RecordedInput = Pick<InputMessage, 'uuid' | 'content' | 'meta'> & {
  readonly permissionMode?: PermissionMode;
};
export type RecordedAnswer = Pick<
  ModelAnswer,
  'id' | 'model' | 'message' | 'blockIds' | 'stopReason' | 'usage' | 'malformed' | 'requestId'
>;
export type RecordedResult = Pick<ToolCallResult, 'uuid' | 'block' | 'structured'>;

export interface RecordedCompaction {
  readonly trigger: 'manual' | 'auto';
  readonly preTokens: number;
  /** What the model sees from now on; the first message carries the summary. */
  readonly messages: readonly Message[];
}

/** An attachment that the model is shown as a message. */
export const REMINDER_MARK = 'reminder';

/** Stands where a model's name is asked for and no model wrote the message just now. */
export const SYNTHETIC_MODEL = '<synthetic>';

/** Listings look at the last 64 KiB only: half of that may pass before facts are repeated. */
const REPEAT_FACTS_AFTER = 32 * 1024;
const LONGEST_PROMPT_FACT = 500;

export function createRecorder(options: RecorderOptions): Recorder {
  return new StoreRecorder(options);
}

class StoreRecorder implements Recorder {
  readonly #options: RecorderOptions;
  readonly #cwd: () => string;
  readonly #used: Set<string>;
  /** Those that came since somebody last asked what is used: few ever ask. */
  #usedSince: string[] = [];
  #head: string | null;
  #envelope: Envelope | undefined;
  #title: string | undefined;
  #lastPrompt: string | undefined;
  #agent: string | undefined;
  #grown: number;

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { cwd } = options;
    this.#cwd = typeof cwd === 'function' ? cwd : () => cwd;
    this.#head = options.parentUuid ?? null;
    this.#used = new Set(options.usedUuids);
    this.#title = options.title;
    this.#lastPrompt = options.lastPrompt;
    this.#agent = options.agent;
    const hasFacts = options.title !== undefined || options.lastPrompt !== undefined;
    this.#grown = hasFacts ? REPEAT_FACTS_AFTER : 0;
  }

  get head(): string | null {
    return this.#head;
  }

  goTo(uuid: string | null): void {
    this.#head = uuid;
  }

  input(message: RecordedInput): void {
    if (message.meta === true && isAllReminders(message.content)) {
      this.#append([this.#linked(this.#reminder(message))]);
      return;
    }
    const entry = this.#linked({
      type: 'user',
      ...(message.meta === true ? { isMeta: true } : {}),
      uuid: this.#unused(message.uuid),
      timestamp: this.#now(),
      message: { role: 'user', content: compactContent(message.content) },
      ...(message.permissionMode === undefined ? {} : { permissionMode: message.permissionMode }),
    });
    const isPrompt = message.meta !== true && this.#options.agentId === undefined;
    const prompt = isPrompt ? textOf(message.content).trim() : '';
    if (prompt !== '') {
      this.#lastPrompt = promptFact(prompt);
      this.#append([entry, ...this.#facts('last-prompt')]);
    } else {
      this.#append([entry]);
    }
  }

  answer(answer: RecordedAnswer): void {
    this.#append(this.#answerEntries(answer));
  }

  result(_call: ToolUseBlock, result: RecordedResult): void {
    const { uuid, block, structured } = result;
    const own: Draft<OwnFields<UserEntry>> = {
      type: 'user',
      uuid,
      timestamp: this.#now(),
      message: { role: 'user', content: [block] },
    };
    if (structured !== undefined) own.toolUseResult = structured;
    this.#append([this.#linked(own)]);
  }

  compactBoundary({ trigger, preTokens, messages }: RecordedCompaction): {
    uuid: string;
    summaryUuid: string;
  } {
    const logicalParentUuid = this.#head;
    this.#head = null;
    const boundary = this.#linked({
      ...this.#made('system'),
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      logicalParentUuid,
      compactMetadata: { trigger, preTokens },
    });
    const entries = this.#historyEntries(messages, { summaryFirst: true });
    this.#append([boundary, ...entries, ...this.#facts()]);
    const { uuid } = boundary.own;
    return { uuid, summaryUuid: entries[0]?.own.uuid ?? uuid };
  }

  history(messages: readonly Message[]): void {
    this.#append(this.#historyEntries(messages, { summaryFirst: false }));
  }

  attachment(attachment: AttachmentEntry['attachment']): void {
    this.#append([this.#linked({ ...this.#made('attachment'), attachment })]);
  }

  note(text: string): void {
    const own = { subtype: 'informational', content: text } as const;
    this.#append([this.#linked({ ...this.#made('system'), ...own })]);
  }

  title(text: string): void {
    this.#title = text;
    this.#append(this.#facts('custom-title'));
  }

  lastPrompt(text: string): void {
    this.#lastPrompt = promptFact(text);
    this.#append(this.#facts('last-prompt'));
  }

  runsAs(agent: string): void {
    if (agent === this.#agent) return;
    this.#agent = agent;
    this.#append(this.#facts('agent-setting'));
  }

  /** Not a message of a user: many readers of transcripts show those as prompts, whatever `isMeta` says. */
  #reminder({ uuid, content }: RecordedInput): OwnFields<AttachmentEntry> {
    return {
      type: 'attachment',
      isMeta: true,
      uuid: this.#unused(uuid),
      timestamp: this.#now(),
      attachment: { type: REMINDER_MARK, content: compactContent(content) },
    };
  }

  #answerEntries(answer: RecordedAnswer): LinkedEntry[] {
    const { id, model, stopReason, usage, requestId } = answer;
    const entries: LinkedEntry[] = [];
    for (const block of answer.message.content) {
      const malformed = block.type === 'tool_use' ? answer.malformed.get(block.id) : undefined;
      const own: Draft<OwnFields<AssistantEntry>> = {
        type: 'assistant',
        uuid: answer.blockIds[entries.length] ?? this.#options.clock.uuid(),
        timestamp: this.#now(),
        message: {
          id,
          type: 'message',
          role: 'assistant',
          model,
          content: [block],
          stop_reason: stopReason,
          stop_sequence: null,
          usage,
        },
      };
      if (requestId !== undefined) own.requestId = requestId;
      if (malformed !== undefined) own.malformedInput = malformed.raw;
      entries.push(this.#linked(own));
    }
    return entries;
  }

  #historyEntries(
    messages: readonly Message[],
    { summaryFirst }: { readonly summaryFirst: boolean },
  ): LinkedEntry[] {
    return messages.flatMap((message, index): LinkedEntry[] =>
      message.role === 'user'
        ? [this.#historyEntry(message.content, summaryFirst && index === 0)]
        : this.#answerEntries(this.#asAnswer(message.content)),
    );
  }

  #historyEntry(content: readonly UserBlock[], isSummary: boolean): LinkedEntry {
    return this.#linked({
      ...this.#made('user'),
      message: { role: 'user', content: compactContent(content) },
      ...(isSummary ? { isCompactSummary: true } : {}),
    });
  }

  /** A message kept over a compaction: the original entries stay where they are, these are its copy. */
  #asAnswer(content: readonly AssistantBlock[]): RecordedAnswer {
    return {
      id: `msg_${this.#options.clock.uuid()}`,
      model: SYNTHETIC_MODEL,
      message: { role: 'assistant', content },
      blockIds: [],
      stopReason: null,
      usage: ZERO_USAGE,
      malformed: new Map(),
    };
  }

  /** Hosts name their own prompts, and a name that is used twice would tear the chain apart. */
  #unused(uuid: string): string {
    for (const one of this.#usedSince) this.#used.add(one);
    this.#usedSince = [];
    return this.#used.has(uuid) ? this.#options.clock.uuid() : uuid;
  }

  /** The beginning of an entry that has its name from us. */
  #made<T extends OwnFields['type']>(type: T): Pick<EntryBase, 'uuid' | 'timestamp'> & { type: T } {
    return { type, uuid: this.#options.clock.uuid(), timestamp: this.#now() };
  }

  #now(): string {
    return isoTime(this.#options.clock.now());
  }

  /** Links a new entry to the head and makes it the head. */
  #linked(own: OwnFields): LinkedEntry {
    const cwd = this.#cwd();
    let envelope = this.#envelope;
    if (envelope?.fields.cwd !== cwd) {
      envelope = new Envelope(this.#common(cwd));
      this.#envelope = envelope;
    }
    const entry = new LinkedEntry(this.#head, envelope, own);
    this.#head = own.uuid;
    this.#usedSince.push(own.uuid);
    return entry;
  }

  #common(cwd: string): CommonFields {
    const { agentId, sessionId, version, gitBranch, entrypoint } = this.#options;
    // Field by field, in the order of the format.
    const fields: Draft<Partial<CommonFields>> = { isSidechain: agentId !== undefined };
    if (agentId !== undefined) fields.agentId = agentId;
    fields.userType = 'external';
    fields.cwd = cwd;
    fields.sessionId = sessionId;
    fields.version = version;
    if (gitBranch !== undefined) fields.gitBranch = gitBranch;
    if (entrypoint !== undefined) fields.entrypoint = entrypoint;
    return fields as CommonFields;
  }

  #facts(only?: 'custom-title' | 'last-prompt' | 'agent-setting'): MetaLine[] {
    const { sessionId } = this.#options;
    const facts: MetaLine[] = [];
    const wants = (type: MetaLine['type']): boolean => only === undefined || only === type;
    if (this.#title !== undefined && wants('custom-title')) {
      facts.push({ type: 'custom-title', customTitle: this.#title, sessionId });
    }
    if (this.#lastPrompt !== undefined && wants('last-prompt')) {
      facts.push({ type: 'last-prompt', lastPrompt: this.#lastPrompt, sessionId });
    }
    if (this.#agent !== undefined && wants('agent-setting')) {
      facts.push({ type: 'agent-setting', agentSetting: this.#agent, sessionId });
    }
    return facts;
  }

  #append(lines: readonly NewLine[]): void {
    const { store, sessionId, agentId, persist } = this.#options;
    if (persist === false || lines.length === 0) return;
    this.#grown += store.append(sessionId, lines, agentId);
    if (this.#grown <= REPEAT_FACTS_AFTER) return;
    this.#grown = 0;
    const facts = this.#facts();
    if (facts.length > 0) store.append(sessionId, facts, agentId);
  }
}

/** Of which not all is said yet. */
type Draft<Whole> = { -readonly [Field in keyof Whole]: Whole[Field] };

/** A lone text is stored as a string, which every reader of the format shows. */
function isAllReminders(content: readonly UserBlock[]): boolean {
  return content.every(
    (block) => block.type === 'text' && block.text.startsWith('<system-reminder>'),
  );
}

function compactContent(content: readonly UserBlock[]): string | readonly UserBlock[] {
  const [only] = content;
  if (content.length !== 1 || only?.type !== 'text') return content;
  return Object.keys(only).length === 2 ? only.text : content;
}

function promptFact(text: string): string {
  // Of a long text only the beginning is looked at.
  const beginning = text.trimStart().slice(0, 4 * LONGEST_PROMPT_FACT);
  return sliceWhole(beginning.replace(/\s+/g, ' ').trim(), 0, LONGEST_PROMPT_FACT);
}
