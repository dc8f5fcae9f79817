import { messageOf } from '../../errors.js';
import type { Clock } from '../../platform/clock.js';
import { expandHome, resolve } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { ruleTextOf } from '../../protocol/permission-updates.js';
import type {
  AnswerScope,
  PermissionMode,
  PermissionUpdate,
  TraceStep,
} from '../../protocol/permissions.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { lowerMode } from '../gate/modes.js';
import type { AskAnswer } from '../gate/types.js';
import type { CallView } from '../gate/view.js';
import type { PathFileSystem } from '../paths/paths.js';
import type { Rule, RuleKind } from '../rules/rule.js';
import { type ParsedRule, parseRule } from '../rules/rules.js';
import type { Grants, Reach } from './grants.js';
import type { AnswerFileParts, SaveSettings, SettingsEdit } from './settings-file.js';

/** What answers may change beyond the rules of the session. */
export interface AnswerTargets extends Omit<AnswerFileParts, 'cwd'> {
  addDirectory(directory: string): void;
  removeDirectory(directory: string): void;
}

export interface AnsweringParts {
  readonly fs: PathFileSystem;
  readonly clock: Clock;
  readonly cwd: string;
  readonly home: string;
  readonly targets: AnswerTargets;
  /** Of the session, now. */
  mode(): PermissionMode;
  setMode(mode: PermissionMode): void;
  managedOnly(): string | undefined;
  emit(news: SessionNews): void;
  /** What a call was judged with besides its input. */
  contentOf?(toolUseId: string): string | undefined;
}

export interface GivenAnswer {
  readonly view: CallView;
  readonly answer: Extract<AskAnswer, { behavior: 'allow' }>;
  /** Why the call is asked about whatever the rules allow; absent when an allow rule would open it. */
  readonly held: string | undefined;
}

export interface Kept {
  /** What became of it, for the receipt. */
  readonly steps: readonly TraceStep[];
  /** Set when the answer carries a restriction that cannot be honoured. */
  readonly refused?: string;
}

/** Keeps what an answer says beyond the call it was given for. Never throws. */
export type KeepAnswer = (given: GivenAnswer) => Promise<Kept>;

export interface AnswerContext extends AnsweringParts {
  readonly grants: Grants;
  readonly save: SaveSettings;
}

/** What became of changes of the rules; `refused`: why none of them was made. */
export interface AppliedUpdates {
  readonly notes: readonly string[];
  readonly refused?: string;
}

/**
 * Applies the `updatedPermissions` of an answer, in order. What a settings file gets is in force at
 * once, too. A restriction that cannot be understood refuses the answer before anything is applied; a
 * grant that cannot be is left out and told.
 */
export async function applyUpdates(
  parts: AnswerContext,
  updates: readonly PermissionUpdate[],
  agent: AgentRef,
): Promise<AppliedUpdates> {
  const refused = updates.map((update) => unusable(update, parts)).find((why) => why !== undefined);
  if (refused !== undefined) return { notes: [], refused };
  const notes: string[] = [];
  for (const update of updates) notes.push(...(await apply(parts, update, agent)));
  return { notes };
}

/** fail-closed: an answer whose restriction means nothing is no answer. */
function unusable(update: PermissionUpdate, parts: AnswerContext): string | undefined {
  if (!('rules' in update) || update.behavior === 'allow' || update.type === 'removeRules') {
    return undefined;
  }
  for (const value of update.rules) {
    const text = ruleTextOf(value);
    const rule = parseAnswerRule(parts, update.behavior, text);
    if ('why' in rule)
      return `the ${update.behavior} rule ${text} that came with the answer cannot be honoured: ${rule.why}`;
  }
  return undefined;
}

async function apply(
  parts: AnswerContext,
  update: PermissionUpdate,
  agent: AgentRef,
): Promise<readonly string[]> {
  const managed = parts.managedOnly();
  switch (update.type) {
    case 'addRules':
    case 'replaceRules':
    case 'removeRules':
      return applyRules(parts, update, agent);
    case 'setMode': {
      const { mode, destination } = update;
      // fail-closed: a wider mode is a grant, and lasts longer than the call that it came with.
      const isWider = lowerMode(mode, parts.mode()) !== mode;
      const why = managed !== undefined && isWider ? managed : modeProblem(parts, mode);
      if (why !== undefined) return [told(parts, `the mode stays as it is: ${why}`)];
      // What is lower than now may be higher than what the file says.
      const saved =
        managed === undefined
          ? await toFile(parts, update, { kind: 'mode', mode })
          : [`it is not saved: ${managed}`];
      return [`mode ${mode} (${destination})`, ...saved];
    }
    case 'addDirectories':
    case 'removeDirectories': {
      const isAdded = update.type === 'addDirectories';
      if (isAdded && managed !== undefined) {
        return [told(parts, `no directory was added: ${managed}`)];
      }
      const directories = update.directories.map((one) =>
        resolve(parts.cwd, expandHome(one, parts.home)),
      );
      for (const one of directories)
        parts.targets[isAdded ? 'addDirectory' : 'removeDirectory'](one);
      const list = 'additionalDirectories';
      const edit: SettingsEdit = isAdded
        ? { kind: 'add', list, items: directories }
        : { kind: 'remove', list, items: [...update.directories, ...directories] };
      const verb = isAdded ? 'added' : 'removed';
      const done = `${verb} directories ${directories.join(', ')} (${update.destination})`;
      return [done, ...(await toFile(parts, update, edit))];
    }
  }
}

function modeProblem(parts: AnswerContext, mode: PermissionMode): string | undefined {
  try {
    parts.setMode(mode);
    return undefined;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

async function applyRules(
  parts: AnswerContext,
  update: Extract<PermissionUpdate, { rules: unknown }>,
  agent: AgentRef,
): Promise<readonly string[]> {
  const { behavior, destination, type } = update;
  const opens = behavior === 'allow' ? type !== 'removeRules' : type !== 'addRules';
  const managed = opens ? parts.managedOnly() : undefined;
  if (managed !== undefined) {
    const what =
      behavior === 'allow' ? 'no allow rule was added' : `no ${behavior} rule was taken away`;
    return [told(parts, `${what}: ${managed}`)];
  }
  const { verb, kind } = RULE_UPDATES[type];
  const notes: string[] = [];
  const rules: Rule[] = [];
  for (const text of kind === 'remove' ? [] : update.rules.map(ruleTextOf)) {
    const parsed = parseAnswerRule(parts, behavior, text);
    if ('rule' in parsed) rules.push(parsed.rule, ...(parsed.below ? [parsed.below] : []));
    else {
      const why = `the rule ${text} that came with the answer is not used: ${parsed.why}`;
      notes.push(told(parts, why));
    }
  }
  const named = kind === 'remove' ? update.rules.map(ruleTextOf) : rules.map(({ text }) => text);
  const items = [...new Set(named)];
  const reach = reachOf({ until: 'session' }, agent);
  if (kind === 'remove') parts.grants.removeRules(behavior, items);
  else if (kind === 'replace') parts.grants.replaceRules(behavior, rules, reach);
  else for (const rule of rules) parts.grants.addRule(rule, reach);
  notes.push(`${verb} ${behavior} ${items.join(', ')} (${destination})`);
  if (items.length === 0 && kind !== 'replace') return notes;
  return [...notes, ...(await toFile(parts, update, { kind, list: behavior, items }))];
}

const RULE_UPDATES = {
  addRules: { verb: 'added', kind: 'add' },
  replaceRules: { verb: 'replaced by', kind: 'replace' },
  removeRules: { verb: 'removed', kind: 'remove' },
} as const;

async function toFile(
  parts: AnswerContext,
  { destination }: PermissionUpdate,
  edit: SettingsEdit,
): Promise<readonly string[]> {
  if (destination === 'session' || destination === 'cliArg') return [];
  const saved = await parts.save(destination, edit);
  if (saved.ok) return [`saved in ${saved.value}`];
  return [told(parts, `it holds for this session only, because ${saved.error}`)];
}

function told(parts: AnswerContext, text: string): string {
  parts.emit({ type: 'notice', level: 'warning', text });
  return text;
}

/** A rule for this session, or why it is none. */
export function parseAnswerRule(
  { cwd, home }: AnswerContext,
  kind: RuleKind,
  text: string,
): ParsedRule {
  const origin = { value: { text, root: cwd }, source: 'answer', trusted: true } as const;
  return parseRule(kind, origin, { cwd, home });
}

/** An answer about a background agent holds for that agent; a foreground agent shares the session's answers. */
export function reachOf(
  { until, expiresAt }: Pick<AnswerScope, 'until' | 'expiresAt'>,
  agent: AgentRef,
): Reach {
  return {
    until: until === 'turn' ? 'turn' : 'session',
    expiresAt,
    ...(agent.background ? { agent: agent.path } : {}),
  };
}
