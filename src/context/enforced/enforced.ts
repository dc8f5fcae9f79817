import { nearest } from '../../lib/nearest.js';
import { isRecord } from '../../lib/own.js';
import type { LocatedJson } from '../../settings/files/json.js';
import type { ConfigProblem, SourcedRule } from '../../settings/types.js';
import { blocksOf } from './blocks.js';

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
    for (const { path, line } of json.duplicates) {
      refuse(line, `"${path.join('.')}" stands twice, so one of them is lost.`, 'Write it once.');
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
