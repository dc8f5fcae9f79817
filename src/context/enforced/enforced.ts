import { isRecord } from '../../lib/own.js';
import { nearest } from '../../lib/text/nearest.js';
import type { LocatedJson } from '../../settings/files/json.js';
import type { ConfigProblem, SourcedRule } from '../../settings/types.js';
import type { LoadResult } from '../instructions/load-result.js';
import type { Entry, FilePatterns, InstructionScope } from '../instructions/types.js';
import { blocksOf } from './blocks.js';

/** An instruction file as the rules in it see it. */
interface EnforcedSource {
  readonly path: string;
  /** With the lines of the file. */
  readonly text: string;
  readonly source: 'managed' | 'user' | 'project' | 'local';
  /** What a leading `/` in a rule's path stands for. */
  readonly root: string;
  /** The line in the file, where the text is a part of one. */
  readonly line?: number;
}

/** Restrictions that instruction files state for the gate, not only for the model. */
export interface EnforcedRules {
  readonly deny: readonly SourcedRule[];
  readonly ask: readonly SourcedRule[];
  /** Any `fatal` among them: a restriction is meant and cannot be honoured. */
  readonly problems: readonly ConfigProblem[];
}

/** Restrictions, and which of them hold only for some files. */
export interface FoundRules extends EnforcedRules {
  /** Of a rule that is not named here: it holds wherever its file counts. */
  readonly when: ReadonlyMap<SourcedRule, FilePatterns>;
}

/** Restrictions in the files on the way to some paths. */
export interface NearRules extends FoundRules {
  /** These paths, also as the files see them. */
  readonly paths: readonly string[];
}

export type LocateJson = (text: string) => LocatedJson;

/** What these files enforce. */
export function readEnforcedRules(
  entries: readonly Entry[],
  locateJson: LocateJson,
  { enforced, skipped }: Pick<LoadResult, 'enforced' | 'skipped'>,
): FoundRules {
  const found = { deny: [] as SourcedRule[], ask: [] as SourcedRule[] };
  const problems: ConfigProblem[] = [];
  const fatal = (file: string, scope: InstructionScope, message: string, remedy: string): void => {
    if (restricts(scope)) {
      problems.push({ severity: 'fatal', source: scope, file, message, remedy });
    }
  };
  for (const { place, reason } of enforced?.givenUp ?? []) {
    const message = `${reason}, so that restrictions in them may be missed.`;
    fatal(place.path, place.scope, message, 'Include fewer files.');
  }
  for (const { mayRestrict, scope, path, reason } of skipped) {
    if (mayRestrict !== true) continue;
    const message = `it cannot be read, so that restrictions in it may be missed: ${reason}.`;
    fatal(path, scope, message, 'Make it readable, or take it away.');
  }
  const when = new Map<SourcedRule, FilePatterns>();
  for (const { place, source: text, line, when: fitting } of entries) {
    const { scope: source, path, base: root } = place;
    if (!restricts(source)) continue;
    const rules = enforcedRules({ path, text, source, root, line }, locateJson);
    found.deny.push(...rules.deny);
    found.ask.push(...rules.ask);
    problems.push(...rules.problems);
    if (fitting === undefined) continue;
    for (const rule of [...rules.deny, ...rules.ask]) when.set(rule, fitting);
  }
  return { problems, when, ...found };
}

/** What a model wrote down for itself restricts nothing. */
function restricts(scope: InstructionScope): scope is EnforcedSource['source'] {
  return scope !== 'memory' && scope !== 'team';
}

const SHAPE = 'Write {"deny": ["Bash(rm *)"], "ask": []}.';

/**
 * The rules in fenced blocks with the word `portcullis` behind the fence: JSON in the syntax of
 * settings, `{"permissions": {"deny": [...], "ask": [...]}}`, or the lists alone. They only restrict.
 * fail-closed: a block that cannot be read, or says what it cannot say here, is a fatal problem.
 */
export function enforcedRules(file: EnforcedSource, locateJson: LocateJson): EnforcedRules {
  const { path, source, root } = file;
  const trusted = source === 'managed' || source === 'user';
  const found = { deny: [] as SourcedRule[], ask: [] as SourcedRule[] };
  const problems: ConfigProblem[] = [];
  const say = (line: number, message: string, remedy = SHAPE): void => {
    problems.push({ severity: 'fatal', source, file: path, line, message, remedy });
  };
  for (const block of blocksOf(file.text)) {
    const at = (line: number): number => file.line ?? block.line + line;
    const json = locateJson(block.text);
    if (block.lost !== undefined) say(at(0), block.lost.message, block.lost.remedy);
    else if (!json.ok) say(at(json.line), `the enforced rules are no JSON: ${json.message}.`);
    else if (!isRecord(json.value)) say(at(1), 'the enforced rules are no object.');
    else {
      for (const twice of json.duplicates) {
        const message = `"${twice.path.join('.')}" is written twice, so one of them is lost.`;
        say(at(twice.line), message, 'Write it once.');
      }
      readLists(json.value, (way) => at(json.lineOf(way) ?? 1));
    }
  }
  return { ...found, problems };

  function readLists(
    lists: Readonly<Record<string, unknown>>,
    lineOf: (way: readonly (string | number)[]) => number,
    way: readonly string[] = [],
  ): void {
    for (const [key, value] of Object.entries(lists)) {
      const here = [...way, key];
      const line = lineOf(here);
      if (key === 'permissions' && way.length === 0 && isRecord(value)) {
        readLists(value, lineOf, here);
      } else if ((key === 'deny' || key === 'ask') && !Array.isArray(value)) {
        say(line, `"${key}" is not a list of rules.`);
      } else if (key === 'deny' || key === 'ask') {
        for (const [index, text] of (value as readonly unknown[]).entries()) {
          const place = { source, file: path, line: lineOf([...here, index]), trusted };
          if (typeof text === 'string' && text.trim() !== '') {
            found[key].push({ value: { text, root }, ...place });
          } else say(place.line, `an entry of "${key}" is no rule.`);
        }
      } else if (key === 'allow') {
        const message = '"allow" is ignored here.';
        const remedy = 'Allow in a settings file; instructions can only restrict.';
        problems.push({ severity: 'warning', source, file: path, line, message, remedy });
      } else if (key !== '$schema') {
        const meant = nearest(key, ['permissions', 'deny', 'ask']);
        const remedy = meant === undefined || meant === key ? SHAPE : `Did you mean "${meant}"?`;
        say(line, `"${key}" cannot be said here.`, remedy);
      }
    }
  }
}
