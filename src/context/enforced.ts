import type { LocatedJson } from '../settings/located-json.js';
import type { ConfigProblem, SourcedRule } from '../settings/types.js';
import { nearest } from '../util/nearest.js';
import { isRecord } from '../util/own.js';
import { type BlockWord, blockWord } from './enforced-word.js';
import { withoutHidden } from './instruction-text.js';
import { type MarkdownLine, markdownLines } from './markdown-lines.js';

/** An instruction file as the rules in it see it. */
export interface EnforcedSource {
  readonly path: string;
  /** With the lines of the file. */
  readonly text: string;
  readonly source: 'managed' | 'user' | 'project' | 'local';
  /** What a leading `/` in a rule's path stands for. */
  readonly root: string;
  /** Of a text that stands on one line of another file. */
  readonly line?: number;
}

/** Restrictions that an instruction file states for the gate, not only for the model. */
export interface EnforcedRules {
  readonly deny: readonly SourcedRule[];
  readonly ask: readonly SourcedRule[];
  /** Any `fatal` among them: a restriction is meant and cannot be honoured. */
  readonly problems: readonly ConfigProblem[];
}

export type LocateJson = (text: string) => LocatedJson;

/**
 * The rules in fenced blocks with the word `portcullis` behind the fence: JSON in the syntax of
 * settings, `{"permissions": {"deny": [...], "ask": [...]}}`, or the lists alone. They only restrict.
 * fail-closed: a block that cannot be read, or says what it cannot say here, is a fatal problem.
 */
export function enforcedRules(file: EnforcedSource, locateJson: LocateJson): EnforcedRules {
  const found: Collected = { deny: [], ask: [], problems: [] };
  for (const block of blocksOf(file.text)) {
    const at = (line: number): number => file.line ?? block.line + line;
    if (block.lost !== undefined) {
      found.problems.push(fatal(file, at(0), block.lost.message, block.lost.remedy));
    } else readBlock(file, { at, json: locateJson(block.text) }, found);
  }
  return found;
}

interface Collected {
  readonly deny: SourcedRule[];
  readonly ask: SourcedRule[];
  readonly problems: ConfigProblem[];
}

interface Block {
  /** Of the fence. */
  readonly line: number;
  readonly text: string;
  /** Why it enforces nothing. */
  readonly lost?: { readonly message: string; readonly remedy: string };
}

/** Fences that are indented too far for Markdown, and those behind a character that nobody sees. */
const STRAY_FENCE = /^\s*(`{3,}|~{3,})\s*(\S+)/;
const FENCE = /(`{3,}|~{3,})\s*(.*)$/;

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { line: number; lines: string[]; stray?: string } | undefined;
  /** A fenced block of something else. */
  let around: { line: number; fence: string } | undefined;
  const close = (): void => {
    if (open !== undefined) blocks.push({ line: open.line, text: open.lines.join('\n') });
    open = undefined;
  };
  for (const line of markdownLines(text)) {
    const { number, kind, raw, text: content } = line;
    if (open !== undefined) {
      const ends = open.stray === undefined ? kind !== 'code' : raw.trim().startsWith(open.stray);
      if (!ends) {
        open.lines.push(kind === 'code' ? content : raw);
        continue;
      }
      const isMark = open.stray !== undefined || kind === 'close';
      close();
      if (isMark) continue;
    }
    if (kind === 'code') {
      if (around !== undefined) blocks.push(...swallowed(line, around));
      continue;
    }
    const stray = kind === 'open' ? null : strayIn(line);
    if (kind === 'open') around = { line: number, fence: FENCE.exec(raw)?.[1] ?? '' };
    else if (stray === null) continue;
    const said = blockWord(stray === null ? content : (stray[2] ?? ''));
    if (said === 'ours') {
      around = undefined;
      open = { line: number, lines: [], ...(stray === null ? {} : { stray: stray[1] ?? '' }) };
    } else if (said !== 'other') blocks.push({ line: number, text: '', lost: misspelt(said) });
  }
  close();
  return blocks;
}

/** fail-closed: who indents a block of rules too far, or writes it behind a comment, still means them. */
function strayIn({ kind, raw, text }: MarkdownLine): RegExpExecArray | null {
  const seen = STRAY_FENCE.exec(withoutHidden(kind === 'comment' ? text : raw).text);
  // Marks behind the word make it code within a line.
  return seen?.[2]?.includes('`') === true ? null : seen;
}

/**
 * fail-closed: a block that would end the one around it, were there no word behind its fence, was not
 * meant to be shown as an example: the other one was not closed.
 */
function swallowed(
  { number, text }: MarkdownLine,
  around: { readonly line: number; readonly fence: string },
): readonly Block[] {
  const [, fence = '', behind = ''] = FENCE.exec(text.trimStart()) ?? [];
  if (!text.trimStart().startsWith(fence) || !fence.startsWith(around.fence)) return [];
  if (fence === '' || blockWord(behind) === 'other') return [];
  const message = `the block "${behind.slice(0, LONGEST_QUOTE)}" enforces nothing: it stands in the block of line ${around.line}.`;
  const remedy = 'Close that one first; around an example write a longer fence.';
  return [{ line: number, text: '', lost: { message, remedy } }];
}

const LONGEST_QUOTE = 80;

function misspelt({ misspelt: word }: Exclude<BlockWord, string>): Required<Block>['lost'] {
  const remedy = 'Write "portcullis" behind the fence.';
  return { message: `the block "${word}" enforces nothing.`, remedy };
}

interface BlockContent {
  readonly json: LocatedJson;
  /** The file's line for one of the block, 0 for its fence. */
  at(line: number): number;
}

function readBlock(file: EnforcedSource, { json, at }: BlockContent, into: Collected): void {
  const refuse = (line: number, message: string, remedy = SHAPE): void => {
    into.problems.push(fatal(file, at(line), message, remedy));
  };
  if (!json.ok) refuse(json.line, `the enforced rules are no JSON: ${json.message}.`);
  else if (!isRecord(json.value)) refuse(1, 'the enforced rules are no object.');
  else {
    for (const { way, line } of json.duplicates) {
      refuse(line, `"${way.join('.')}" stands twice, so one of them is lost.`, 'Write it once.');
    }
    const lineOf = (way: readonly (string | number)[]): number => at(json.lineOf(way) ?? 1);
    readLists(file, { lists: json.value, way: [], lineOf }, into);
  }
}

interface Lists {
  readonly lists: Readonly<Record<string, unknown>>;
  readonly way: readonly string[];
  /** The file's line of a value. */
  lineOf(way: readonly (string | number)[]): number;
}

function readLists(file: EnforcedSource, { lists, way, lineOf }: Lists, into: Collected): void {
  for (const [key, value] of Object.entries(lists)) {
    const here = [...way, key];
    const line = lineOf(here);
    if (key === 'permissions' && way.length === 0 && isRecord(value)) {
      readLists(file, { lists: value, way: here, lineOf }, into);
    } else if (key === 'deny' || key === 'ask') {
      const list: RuleList = { kind: key, value, lineOf: (index) => lineOf([...here, ...index]) };
      takeList(file, list, into);
    } else if (key === 'allow') {
      const place = { source: file.source, file: file.path, line };
      const remedy = 'Allow in a settings file; instructions can only restrict.';
      into.problems.push({
        severity: 'warning',
        ...place,
        message: '"allow" is ignored here.',
        remedy,
      });
    } else if (key !== '$schema') {
      const meant = nearest(key, ['permissions', 'deny', 'ask']);
      const remedy = meant === undefined || meant === key ? SHAPE : `Did you mean "${meant}"?`;
      into.problems.push(fatal(file, line, `"${key}" cannot be said here.`, remedy));
    }
  }
}

const SHAPE = 'Write {"deny": ["Bash(rm *)"], "ask": []}.';

interface RuleList {
  readonly kind: 'deny' | 'ask';
  readonly value: unknown;
  /** The file's line of the list, or of one of its items. */
  lineOf(index: readonly number[]): number;
}

function takeList(file: EnforcedSource, { kind, value, lineOf }: RuleList, into: Collected): void {
  if (!Array.isArray(value)) {
    into.problems.push(fatal(file, lineOf([]), `"${kind}" is no list of rules.`, SHAPE));
    return;
  }
  value.forEach((text: unknown, index) => {
    const line = lineOf([index]);
    if (typeof text !== 'string' || text.trim() === '') {
      into.problems.push(fatal(file, line, `an entry of "${kind}" is no rule.`, SHAPE));
      return;
    }
    into[kind].push({
      value: { text, root: file.root },
      source: file.source,
      file: file.path,
      line,
      trusted: file.source === 'managed' || file.source === 'user',
    });
  });
}

function fatal(file: EnforcedSource, line: number, message: string, remedy: string): ConfigProblem {
  return { severity: 'fatal', source: file.source, file: file.path, line, message, remedy };
}
