import { sliceWhole } from '../lib/text/truncate.js';
import type { InputMessage, ModelAnswer, ToolCallResult } from '../loop/types.js';
import type { Clock } from '../platform/clock.js';
import type { AssistantBlock, Message, ToolUseBlock, UserBlock } from '../protocol/content.js';
import { textOf, ZERO_USAGE } from '../protocol/content.js';
import type { PermissionMode } from '../protocol/permissions.js';
import type {
  AttachmentEntry,
  EntryBase,
  MetaLine,
  TranscriptEntry,
} from '../protocol/transcript.js';
import type { NewLine, SessionFacts, SessionStore } from './transcript/store.js';

/** The facts are those of the resumed transcript, repeated near its end. */
export interface RecorderOptions extends SessionFacts {
  readonly store: SessionStore;
  readonly sessionId: string;
  readonly clock: Clock;
  /** A function when the shell may change it. */
  readonly cwd: string | (() => string);
  readonly version: string;
  readonly entrypoint?: string;
  readonly gitBranch?: string;
  /** False: entries are linked but not stored. */
  readonly persist?: boolean;
  /** The parent of the first entry: `lastUuid` of the resumed conversation. */
  readonly parentUuid?: string | null;
  /** Uuids of the entries that the transcript has already. */
  readonly usedUuids?: Iterable<string>;
  /** Records a subagent into a file of its own. */
  readonly agentId?: string;
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

/** The type of an attachment that the model is shown as a message. */
export const REMINDER_MARK = 'reminder';

/** The model name of messages that no model wrote just now. */
export const SYNTHETIC_MODEL = '<synthetic>';

/** Listings read only the last 64 KiB, so facts are repeated after half of that. */
const REPEAT_FACTS_AFTER = 32 * 1024;
const LONGEST_PROMPT_FACT = 500;

/** Turns loop events into linked transcript entries; each call is one append. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #cwd: () => string;
  readonly #used: Set<string>;
  #head: string | null;
  #facts: SessionFacts;
  #grown: number;

  constructor(options: RecorderOptions) {
    this.#options = options;
    const { cwd } = options;
    this.#cwd = typeof cwd === 'function' ? cwd : () => cwd;
    this.#head = options.parentUuid ?? null;
    this.#used = new Set(options.usedUuids);
    this.#facts = factsOf(options);
    const hasFacts = options.title !== undefined || options.lastPrompt !== undefined;
    this.#grown = hasFacts ? REPEAT_FACTS_AFTER : 0;
  }

  /** The parent of the next entry. */
  get head(): string | null {
    return this.#head;
  }

  /**
   * Moves back to an earlier entry, so that the next one starts another branch. Removes nothing from
   * the transcript.
   */
  goTo(uuid: string | null): void {
    this.#head = uuid;
  }

  input(message: RecordedInput): void {
    const isMeta = message.meta === true;
    if (isMeta && isAllReminders(message.content)) {
      // Stored as an attachment, because many transcript readers show user messages as prompts whatever
      // `isMeta` says.
      this.#add({
        type: 'attachment',
        isMeta: true,
        uuid: this.#unused(message.uuid),
        timestamp: this.#now(),
        attachment: { type: REMINDER_MARK, content: compactContent(message.content) },
      });
      return;
    }
    const entry = this.#linked({
      type: 'user',
      isMeta: isMeta || undefined,
      uuid: this.#unused(message.uuid),
      timestamp: this.#now(),
      message: { role: 'user', content: compactContent(message.content) },
      permissionMode: message.permissionMode,
    });
    const isPrompt = !isMeta && this.#options.agentId === undefined;
    const prompt = isPrompt ? textOf(message.content).trim() : '';
    const facts = prompt === '' ? [] : this.#learn({ lastPrompt: promptFact(prompt) });
    this.#append([entry, ...facts]);
  }

  /** One entry per content block, all sharing the message's id. */
  answer(answer: RecordedAnswer): void {
    this.#append(this.#answerEntries(answer));
  }

  result(_call: ToolUseBlock, result: RecordedResult): void {
    const { uuid, block, structured } = result;
    this.#add({
      type: 'user',
      uuid,
      timestamp: this.#now(),
      message: { role: 'user', content: [block] },
      toolUseResult: structured,
    });
  }

  /** Starts a new chain: the boundary, then the compacted history. Returns the uuids of both. */
  compactBoundary({ trigger, preTokens, messages }: RecordedCompaction): {
    readonly uuid: string;
    readonly summaryUuid: string;
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
    this.#append([boundary, ...entries, ...factLines(this.#options.sessionId, this.#facts)]);
    const { uuid } = boundary;
    return { uuid, summaryUuid: entries[0]?.uuid ?? uuid };
  }

  /** Records messages of another session that continue here. */
  history(messages: readonly Message[]): void {
    this.#append(this.#historyEntries(messages, { summaryFirst: false }));
  }

  attachment(attachment: AttachmentEntry['attachment']): void {
    this.#add({ ...this.#made('attachment'), attachment });
  }

  /** Shown to people, never to the model. */
  note(text: string): void {
    this.#add({ ...this.#made('system'), subtype: 'informational', content: text });
  }

  title(text: string): void {
    this.#append(this.#learn({ title: text }));
  }

  lastPrompt(text: string): void {
    this.#append(this.#learn({ lastPrompt: promptFact(text) }));
  }

  /** Records the agent that the main conversation runs as from now on. */
  runsAs(agent: string): void {
    if (agent !== this.#facts.agent) this.#append(this.#learn({ agent }));
  }

  #answerEntries(answer: RecordedAnswer): TranscriptEntry[] {
    const { id, model, stopReason, usage, requestId } = answer;
    return answer.message.content.map((block, index) => {
      const malformed = block.type === 'tool_use' ? answer.malformed.get(block.id) : undefined;
      return this.#linked({
        type: 'assistant',
        uuid: answer.blockIds[index] ?? this.#options.clock.uuid(),
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
        requestId,
        malformedInput: malformed?.raw,
      });
    });
  }

  #historyEntries(
    messages: readonly Message[],
    { summaryFirst }: { readonly summaryFirst: boolean },
  ): TranscriptEntry[] {
    return messages.flatMap((message, index): TranscriptEntry[] =>
      message.role === 'user'
        ? [
            this.#linked({
              ...this.#made('user'),
              message: { role: 'user', content: compactContent(message.content) },
              isCompactSummary: (summaryFirst && index === 0) || undefined,
            }),
          ]
        : this.#answerEntries(this.#asAnswer(message.content)),
    );
  }

  /** A copy of an answer kept by compaction; the original entries stay in place. */
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

  /** Hosts choose the uuids of their prompts, and a repeated uuid would break the chain. */
  #unused(uuid: string): string {
    return this.#used.has(uuid) ? this.#options.clock.uuid() : uuid;
  }

  /** The first fields of an entry with a new uuid. */
  #made<T extends OwnFields['type']>(type: T): Pick<EntryBase, 'uuid' | 'timestamp'> & { type: T } {
    return { type, uuid: this.#options.clock.uuid(), timestamp: this.#now() };
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }

  /** Links a new entry to the head and makes it the head. */
  #linked(own: OwnFields): TranscriptEntry {
    const { agentId, sessionId, version, gitBranch, entrypoint } = this.#options;
    // Fields in the order of the transcript format.
    const common = {
      parentUuid: this.#head,
      isSidechain: agentId !== undefined,
      agentId,
      userType: 'external',
      cwd: this.#cwd(),
      sessionId,
      version,
      gitBranch,
      entrypoint,
    } satisfies CommonFields;
    this.#head = own.uuid;
    this.#used.add(own.uuid);
    return { ...common, ...own } as TranscriptEntry;
  }

  /** Returns the line of the new fact. */
  #learn(fact: SessionFacts): readonly MetaLine[] {
    this.#facts = { ...this.#facts, ...fact };
    return factLines(this.#options.sessionId, fact);
  }

  #add(own: OwnFields): void {
    this.#append([this.#linked(own)]);
  }

  #append(lines: readonly NewLine[]): void {
    const { store, sessionId, agentId, persist } = this.#options;
    if (persist === false || lines.length === 0) return;
    this.#grown += store.append(sessionId, lines, agentId);
    if (this.#grown <= REPEAT_FACTS_AFTER) return;
    this.#grown = 0;
    const facts = factLines(sessionId, this.#facts);
    if (facts.length > 0) store.append(sessionId, facts, agentId);
  }
}

/** The facts of a session, without what else the object holds. */
export function factsOf({ title, lastPrompt, agent }: SessionFacts): SessionFacts {
  return { title, lastPrompt, agent };
}

/** The facts of a session as lines outside the tree. */
export function factLines(
  sessionId: string,
  { title, lastPrompt, agent }: SessionFacts,
): readonly MetaLine[] {
  const facts: MetaLine[] = [];
  if (title !== undefined) facts.push({ type: 'custom-title', customTitle: title, sessionId });
  if (lastPrompt !== undefined) facts.push({ type: 'last-prompt', lastPrompt, sessionId });
  if (agent !== undefined) facts.push({ type: 'agent-setting', agentSetting: agent, sessionId });
  return facts;
}

/** Fields shared by all entries of one agent. */
type CommonFields = Omit<EntryBase, 'uuid' | 'timestamp' | 'type' | 'isMeta'>;

/** The fields of an entry after the common ones. */
type OwnFields<Entry extends TranscriptEntry = TranscriptEntry> = Entry extends TranscriptEntry
  ? Omit<Entry, keyof CommonFields>
  : never;

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
  // Only the beginning of a long text is processed.
  const beginning = text.trimStart().slice(0, 4 * LONGEST_PROMPT_FACT);
  return sliceWhole(beginning.replace(/\s+/g, ' ').trim(), 0, LONGEST_PROMPT_FACT);
}
