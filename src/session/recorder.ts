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
  SystemEntry,
  TranscriptEntry,
  UserEntry,
} from '../protocol/transcript.js';
import { isoTime } from '../util/iso-time.js';
import { sliceWhole } from '../util/truncate.js';
import type { SessionStore } from './store.js';

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
  readonly #used: Set<string>;
  #head: string | null;
  #title: string | undefined;
  #lastPrompt: string | undefined;
  #agent: string | undefined;
  #grown: number;

  constructor(options: RecorderOptions) {
    this.#options = options;
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
    const entry: UserEntry = this.#entry(
      'user',
      {
        message: { role: 'user', content: compactContent(message.content) },
        ...(message.permissionMode === undefined ? {} : { permissionMode: message.permissionMode }),
      },
      { uuid: this.#unused(message.uuid), isMeta: message.meta === true },
    );
    const prompt = message.meta === true ? '' : textOf(message.content).trim();
    if (prompt !== '' && this.#options.agentId === undefined) {
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
    const message = { role: 'user', content: [block] } as const;
    const fields = structured === undefined ? { message } : { message, toolUseResult: structured };
    this.#append([this.#entry('user', fields, { uuid })]);
  }

  compactBoundary({ trigger, preTokens, messages }: RecordedCompaction): {
    uuid: string;
    summaryUuid: string;
  } {
    const logicalParentUuid = this.#head;
    this.#head = null;
    const boundary: SystemEntry = this.#entry('system', {
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      logicalParentUuid,
      compactMetadata: { trigger, preTokens },
    });
    const entries = this.#historyEntries(messages, { summaryFirst: true });
    this.#append([boundary, ...entries, ...this.#facts()]);
    return { uuid: boundary.uuid, summaryUuid: entries[0]?.uuid ?? boundary.uuid };
  }

  history(messages: readonly Message[]): void {
    this.#append(this.#historyEntries(messages, { summaryFirst: false }));
  }

  attachment(attachment: AttachmentEntry['attachment']): void {
    this.#append([this.#entry('attachment', { attachment })]);
  }

  note(text: string): void {
    this.#append([this.#entry('system', { subtype: 'informational', content: text })]);
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

  #answerEntries(answer: RecordedAnswer): AssistantEntry[] {
    const { id, model, stopReason, usage, requestId } = answer;
    return answer.message.content.map((block, index) => {
      const malformed = block.type === 'tool_use' ? answer.malformed.get(block.id) : undefined;
      const fields: Draft<Omit<AssistantEntry, keyof EntryBase | 'type'>> = {
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
      if (requestId !== undefined) fields.requestId = requestId;
      if (malformed !== undefined) fields.malformedInput = malformed.raw;
      return this.#entry('assistant', fields, { uuid: answer.blockIds[index] });
    });
  }

  #historyEntries(
    messages: readonly Message[],
    { summaryFirst }: { readonly summaryFirst: boolean },
  ): TranscriptEntry[] {
    return messages.flatMap((message, index): TranscriptEntry[] =>
      message.role === 'user'
        ? [this.#historyEntry(message.content, summaryFirst && index === 0)]
        : this.#answerEntries(this.#asAnswer(message.content)),
    );
  }

  #historyEntry(content: readonly UserBlock[], isSummary: boolean): UserEntry {
    return this.#entry('user', {
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
    return this.#used.has(uuid) ? this.#options.clock.uuid() : uuid;
  }

  /** Links a new entry to the head and makes it the head. */
  #entry<T extends TranscriptEntry['type'], F extends object>(
    type: T,
    fields: F,
    { uuid = this.#options.clock.uuid(), isMeta }: EntryName = {},
  ): EntryBase & { readonly type: T } & F {
    const { agentId, cwd, sessionId, version, gitBranch, entrypoint, clock } = this.#options;
    // Field by field, in the order of the format: of spreads, each entry would get a hidden class of its own.
    const entry: Draft<Partial<EntryBase> & { type?: string }> = {
      parentUuid: this.#head,
      isSidechain: agentId !== undefined,
    };
    if (agentId !== undefined) entry.agentId = agentId;
    entry.userType = 'external';
    entry.cwd = typeof cwd === 'function' ? cwd() : cwd;
    entry.sessionId = sessionId;
    entry.version = version;
    if (gitBranch !== undefined) entry.gitBranch = gitBranch;
    if (entrypoint !== undefined) entry.entrypoint = entrypoint;
    entry.type = type;
    if (isMeta === true) entry.isMeta = true;
    entry.uuid = uuid;
    entry.timestamp = isoTime(clock.now());
    this.#head = uuid;
    this.#used.add(uuid);
    return Object.assign(entry, fields) as EntryBase & { readonly type: T } & F;
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

  #append(lines: readonly (TranscriptEntry | MetaLine)[]): void {
    const { store, sessionId, agentId, persist } = this.#options;
    if (persist === false || lines.length === 0) return;
    this.#grown += store.append(sessionId, lines, agentId);
    if (this.#grown <= REPEAT_FACTS_AFTER) return;
    this.#grown = 0;
    const facts = this.#facts();
    if (facts.length > 0) store.append(sessionId, facts, agentId);
  }
}

/** Which entry it is to be, where the recorder does not choose. */
interface EntryName {
  readonly uuid?: string | undefined;
  readonly isMeta?: boolean;
}

/** Of which not all is said yet. */
type Draft<Whole> = { -readonly [Field in keyof Whole]: Whole[Field] };

/** A lone text is stored as a string, which every reader of the format shows. */
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
