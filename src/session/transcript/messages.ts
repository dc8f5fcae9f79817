import { isRecord } from '../../lib/own.js';
import type {
  AssistantBlock,
  Message,
  ResultBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from '../../protocol/content.js';
import type { AssistantEntry, TranscriptEntry } from '../../protocol/transcript.js';
import { REMINDER_MARK } from '../recorder.js';

/** A call whose result never reached the transcript, with a placeholder result. */
export interface DanglingCall {
  readonly call: ToolUseBlock;
  readonly result: ToolResultBlock;
}

export interface Rebuilt {
  readonly messages: readonly Message[];
  /** The unanswered calls at the very end, which `messages` leaves open. */
  readonly dangling: readonly DanglingCall[];
}

export const INTERRUPTED_RESULT =
  'Interrupted, outcome unknown: the run ended before this call returned, so it may have had no, some or all of its effects. Check before you repeat it.';

const LOST_BEGINNING = '[The beginning of this conversation was lost.]';

/**
 * Rebuilds the messages of a conversation from its entries, repaired where the file is incomplete so
 * that a model accepts them.
 */
export function rebuildMessages(entries: readonly TranscriptEntry[]): Rebuilt {
  const drafts = draft(entries);
  const messages: Message[] = [];
  let dangling: readonly DanglingCall[] = [];
  for (let index = 0; index < drafts.length; index++) {
    const current = drafts[index];
    if (current?.role !== 'assistant') {
      // Only a user message at the start or after another one gets here; replies are handled with their answer below.
      const own = (current?.blocks ?? []).filter((block) => block.type !== 'tool_result');
      if (own.length > 0) messages.push({ role: 'user', content: own });
      continue;
    }
    messages.push({ role: 'assistant', content: current.blocks });
    const next = drafts[index + 1];
    const reply = next?.role === 'user' ? next : undefined;
    if (reply !== undefined) index++;
    const answered = answer(current.blocks, reply?.blocks ?? []);
    const isEnd = index === drafts.length - 1 && answered.others.length === 0;
    if (isEnd) dangling = answered.missing;
    const standIns = isEnd ? [] : answered.missing;
    const content = [
      ...answered.results,
      ...standIns.map((missing) => missing.result),
      ...answered.others,
    ];
    if (content.length > 0) messages.push({ role: 'user', content });
  }
  if (messages[0]?.role === 'assistant') {
    messages.unshift({ role: 'user', content: [{ type: 'text', text: LOST_BEGINNING }] });
  }
  return { messages, dangling };
}

interface UserDraft {
  readonly role: 'user';
  readonly blocks: UserBlock[];
}

interface AssistantDraft {
  readonly role: 'assistant';
  readonly blocks: AssistantBlock[];
  readonly id: string | undefined;
  readonly requestId: string | undefined;
}

function draft(entries: readonly TranscriptEntry[]): readonly (UserDraft | AssistantDraft)[] {
  const drafts: (UserDraft | AssistantDraft)[] = [];
  for (const entry of entries) {
    const last = drafts.at(-1);
    if (entry.type !== 'assistant') {
      const blocks = soundUserBlocks(inputOf(entry) ?? '');
      if (blocks.length === 0) continue;
      // One by one: an entry may hold more blocks than a call takes arguments.
      if (last?.role === 'user') for (const block of blocks) last.blocks.push(block);
      else drafts.push({ role: 'user', blocks });
      continue;
    }
    const blocks = isErrorNotice(entry) ? [] : soundAssistantBlocks(entry.message.content);
    if (blocks.length === 0) continue;
    const same = sameAnswer(drafts, entry);
    if (same !== undefined) for (const block of blocks) same.blocks.push(block);
    else
      drafts.push({ role: 'assistant', blocks, id: entry.message.id, requestId: entry.requestId });
  }
  return drafts;
}

/** The user content that an entry shows the model; undefined for other entries. */
function inputOf(entry: TranscriptEntry): string | readonly unknown[] | undefined {
  if (entry.type === 'user') return entry.message.content;
  if (entry.type !== 'attachment' || entry.attachment.type !== REMINDER_MARK) return undefined;
  const { content } = entry.attachment;
  return typeof content === 'string' || Array.isArray(content) ? content : undefined;
}

/** The answer that this entry adds another block to. */
function sameAnswer(
  drafts: readonly (UserDraft | AssistantDraft)[],
  entry: AssistantEntry,
): AssistantDraft | undefined {
  const last = drafts.at(-1);
  if (last?.role === 'assistant') {
    return typeof last.id === 'string' && last.id === entry.message.id ? last : undefined;
  }
  // Tools that start while the answer still streams put results between its blocks.
  const before = drafts.at(-2);
  if (before?.role !== 'assistant' || before.id !== entry.message.id) return undefined;
  const isSameRequest =
    typeof before.requestId === 'string' && before.requestId === entry.requestId;
  const onlyResults = last?.blocks.every((block) => block.type === 'tool_result');
  return isSameRequest && onlyResults ? before : undefined;
}

/** A notice that other writers record after a failed request; no model ever saw it. */
function isErrorNotice(entry: AssistantEntry): boolean {
  return 'isApiErrorMessage' in entry && entry.isApiErrorMessage === true;
}

/** Splits a reply into results of these calls, calls without a result, and other blocks. */
function answer(
  said: readonly AssistantBlock[],
  reply: readonly UserBlock[],
): { results: ToolResultBlock[]; missing: DanglingCall[]; others: UserBlock[] } {
  const open = new Map<string, ToolUseBlock>();
  for (const block of said) if (block.type === 'tool_use') open.set(block.id, block);
  const results: ToolResultBlock[] = [];
  const others: UserBlock[] = [];
  for (const block of reply) {
    if (block.type !== 'tool_result') others.push(block);
    else if (open.delete(block.tool_use_id)) results.push(block);
  }
  const missing = [...open.values()].map((call) => ({ call, result: standIn(call) }));
  return { results, missing, others };
}

function standIn(call: ToolUseBlock): ToolResultBlock {
  return {
    type: 'tool_result',
    tool_use_id: call.id,
    content: INTERRUPTED_RESULT,
    is_error: true,
  };
}

/**
 * Blocks of a transcript that can be sent to a model. Files come from other writers, versions and
 * machines, so a malformed block is repaired or left out instead of making the session unusable;
 * unknown kinds are kept.
 */
export function soundUserBlocks(content: string | readonly unknown[]): UserBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.flatMap((block) => {
    if (!isRecord(block)) return [];
    if (block.type === 'tool_result') return soundResult(block);
    return isSound(block) ? [block as unknown as UserBlock] : [];
  });
}

/** Other writers store a whole answer as a string. */
export function soundAssistantBlocks(content: string | readonly unknown[]): AssistantBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return content.flatMap((block) => {
    if (!isRecord(block)) return [];
    if (block.type === 'tool_use') return soundCall(block);
    return isSound(block) ? [block as unknown as AssistantBlock] : [];
  });
}

function isSound(block: Readonly<Record<string, unknown>>): boolean {
  switch (block.type) {
    case 'text':
      // Models refuse empty text blocks.
      return typeof block.text === 'string' && block.text !== '';
    case 'thinking':
      return typeof block.thinking === 'string' && typeof block.signature === 'string';
    case 'image':
    case 'document':
      return isRecord(block.source);
    default:
      return true;
  }
}

function soundCall(block: Readonly<Record<string, unknown>>): ToolUseBlock[] {
  if (typeof block.id !== 'string' || typeof block.name !== 'string') return [];
  const call = block as unknown as ToolUseBlock;
  return [isRecord(block.input) ? call : { ...call, input: {} }];
}

function soundResult(block: Readonly<Record<string, unknown>>): ToolResultBlock[] {
  if (typeof block.tool_use_id !== 'string') return [];
  const result = block as unknown as ToolResultBlock;
  const { content } = block;
  if (typeof content === 'string') return [result];
  if (!Array.isArray(content)) return [{ ...result, content: '' }];
  const sound = content.filter((part): part is ResultBlock => isRecord(part) && isSound(part));
  return [sound.length === content.length ? result : { ...result, content: sound }];
}
