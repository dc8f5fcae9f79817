import { messageOf } from '../../errors.js';
import type { Clock } from '../../platform/clock.js';
import { expandHome, resolve } from '../../platform/fs/paths.js';
import type { AgentRef } from '../../protocol/agent-ref.js';
import { ruleTextOf } from '../../protocol/permission-updates.js';
import type { PermissionMode, PermissionUpdate } from '../../protocol/permissions.js';
import type { SessionNews } from '../../protocol/session-events.js';
import { runPipeline } from '../gate/evaluate.js';
import type { Resolver } from '../gate/guard.js';
import { lowerMode } from '../gate/modes.js';
import { STANDARD_RESOLVERS } from '../gate/resolvers.js';
import { type CallView, viewOf } from '../gate/view.js';
import type { PathFileSystem } from '../paths/paths.js';
import { parseRule, type Rule, type RuleSet } from '../rules/rules.js';
import { type AnswerParts, createKeeper, type KeepAnswer, reachOf } from './answers.js';
import { answeredBefore, createGrants, createRuleJoin, type Grants } from './grants.js';
import {
  type AnswerFileParts,
  type AnswerFiles,
  createAnswerFiles,
  type SettingsEdit,
} from './settings-file.js';

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

export interface Answering {
  readonly keep: KeepAnswer;
  readonly resolver: Resolver;
  /** Changes rules, mode or directories as an answer of the main agent's would. */
  readonly applyUpdates: AnswerParts['applyUpdates'];
  /** The rules of the settings with those of answers. */
  withAnswers(base: RuleSet, agent: AgentRef): RuleSet;
  beginTurn(): void;
  /** An agent has ended: what was answered for it alone is over. */
  forget(agentPath: string): void;
}

/** Everything that makes an answer reach further than its call. */
export function openAnswering(parts: AnsweringParts): Answering {
  const { fs, clock, cwd, home, targets, managedOnly, emit } = parts;
  const grants = createGrants(clock.now, parts.contentOf);
  const files = createAnswerFiles({ cwd, ...targets });
  const join = createRuleJoin();
  const parse: Parameters<typeof createKeeper>[0]['parse'] = (kind, text) => {
    const origin = { value: { text, root: cwd }, source: 'answer', trusted: true } as const;
    return parseRule(kind, origin, { cwd, home });
  };
  const applyUpdates = createUpdates({
    grants,
    files,
    cwd,
    home,
    parse,
    managedOnly,
    emit,
    mode: parts.mode,
    setMode: parts.setMode,
    addDirectory: targets.addDirectory,
    removeDirectory: targets.removeDirectory,
  });
  return {
    applyUpdates,
    keep: createKeeper({
      grants,
      files,
      parse,
      managedOnly,
      applyUpdates,
      emit,
      now: clock.now,
      opens: (rule, view) => opensCall(rule, view, { fs, clock }),
    }),
    resolver: answeredBefore(grants),
    withAnswers: (base, agent) => join(base, grants.rules(agent)),
    beginTurn: grants.beginTurn,
    forget: grants.forget,
  };
}

/** Whether a rule would have let a call through that no guard held back and nothing allowed. */
async function opensCall(
  rule: Rule,
  view: CallView,
  deps: { readonly fs: PathFileSystem; readonly clock: Pick<Clock, 'monotonic'> },
): Promise<boolean> {
  const { call, mode, home, rules, facts } = view;
  const tried = viewOf(call, {
    fs: deps.fs,
    home,
    mode,
    facts,
    rules: { ...rules, allow: [rule, ...rules.allow] },
  });
  const { outcome } = await runPipeline(tried, {
    guards: [],
    resolvers: STANDARD_RESOLVERS,
    clock: deps.clock,
  });
  return outcome.kind === 'allowed';
}

interface UpdateParts {
  readonly grants: Grants;
  readonly files: AnswerFiles;
  readonly cwd: string;
  readonly home: string;
  readonly parse: AnswerParts['parse'];
  readonly managedOnly: AnswerParts['managedOnly'];
  /** Of the session, now. */
  mode(): PermissionMode;
  setMode(mode: PermissionMode): void;
  addDirectory(directory: string): void;
  removeDirectory(directory: string): void;
  emit(news: SessionNews): void;
}

/**
 * Applies the `updatedPermissions` of an answer, in order. What a settings file gets is in force at
 * once, too. A restriction that cannot be understood refuses the answer before anything is applied; a
 * grant that cannot be is left out and told.
 */
function createUpdates(parts: UpdateParts): AnswerParts['applyUpdates'] {
  return async (updates, agent) => {
    const refused = updates
      .map((update) => unusable(update, parts))
      .find((why) => why !== undefined);
    if (refused !== undefined) return { notes: [], refused };
    const notes: string[] = [];
    for (const update of updates) notes.push(...(await apply(parts, update, agent)));
    return { notes };
  };
}

/** fail-closed: an answer whose restriction means nothing is no answer. */
function unusable(update: PermissionUpdate, parts: UpdateParts): string | undefined {
  if (!('rules' in update) || update.behavior === 'allow' || update.type === 'removeRules') {
    return undefined;
  }
  for (const value of update.rules) {
    const text = ruleTextOf(value);
    const rule = parts.parse(update.behavior, text);
    if ('why' in rule)
      return `the ${update.behavior} rule ${text} that came with the answer cannot be honoured: ${rule.why}`;
  }
  return undefined;
}

async function apply(
  parts: UpdateParts,
  update: PermissionUpdate,
  agent: AgentRef,
): Promise<readonly string[]> {
  switch (update.type) {
    case 'addRules':
    case 'replaceRules':
    case 'removeRules':
      return applyRules(parts, update, agent);
    case 'setMode':
      return applyMode(parts, update);
    case 'addDirectories':
    case 'removeDirectories':
      return applyDirectories(parts, update);
  }
}

type RuleUpdate = Extract<PermissionUpdate, { rules: unknown }>;

async function applyRules(
  parts: UpdateParts,
  update: RuleUpdate,
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
  const notes: string[] = [];
  const rules: Rule[] = [];
  for (const value of update.rules) {
    const text = ruleTextOf(value);
    const parsed = parts.parse(behavior, text);
    if ('rule' in parsed) {
      rules.push(parsed.rule, ...(parsed.below === undefined ? [] : [parsed.below]));
    } else if (type !== 'removeRules') {
      notes.push(
        told(parts, `the rule ${text} that came with the answer is not used: ${parsed.why}`),
      );
    }
  }
  const texts =
    type === 'removeRules'
      ? update.rules.map(ruleTextOf)
      : [...new Set(rules.map(({ text }) => text))];
  const reach = reachOf({ until: 'session' }, agent);
  if (type === 'removeRules') parts.grants.removeRules(behavior, texts);
  else if (type === 'replaceRules') parts.grants.replaceRules(behavior, rules, reach);
  else for (const rule of rules) parts.grants.addRule(rule, reach);
  const list = texts.join(', ');
  notes.push(`${VERBS[type]} ${behavior} ${list} (${destination})`);
  const kind = type === 'addRules' ? 'add' : type === 'replaceRules' ? 'replace' : 'remove';
  if (texts.length > 0 || kind === 'replace') {
    notes.push(...(await toFile(parts, update, { kind, list: behavior, items: texts })));
  }
  return notes;
}

const VERBS = {
  addRules: 'added',
  replaceRules: 'replaced by',
  removeRules: 'removed',
} as const;

async function applyMode(
  parts: UpdateParts,
  update: Extract<PermissionUpdate, { type: 'setMode' }>,
): Promise<readonly string[]> {
  const managed = parts.managedOnly();
  // fail-closed: a wider mode is a grant, and lasts longer than the call that it came with.
  if (managed !== undefined && lowerMode(update.mode, parts.mode()) !== update.mode) {
    return [told(parts, `the mode stays as it is: ${managed}`)];
  }
  try {
    parts.setMode(update.mode);
  } catch (thrown) {
    return [told(parts, `the mode stays as it is: ${messageOf(thrown)}`)];
  }
  // What is lower than now may be higher than what the file says.
  const saved =
    managed === undefined
      ? await toFile(parts, update, { kind: 'mode', mode: update.mode })
      : [`it is not saved: ${managed}`];
  return [`mode ${update.mode} (${update.destination})`, ...saved];
}

async function applyDirectories(
  parts: UpdateParts,
  update: Extract<PermissionUpdate, { directories: unknown }>,
): Promise<readonly string[]> {
  const { cwd, home } = parts;
  const adds = update.type === 'addDirectories';
  const managed = adds ? parts.managedOnly() : undefined;
  if (managed !== undefined) return [told(parts, `no directory was added: ${managed}`)];
  const directories = update.directories.map((one) => resolve(cwd, expandHome(one, home)));
  for (const directory of directories) {
    if (adds) parts.addDirectory(directory);
    else parts.removeDirectory(directory);
  }
  const saved = await toFile(parts, update, {
    kind: adds ? 'add' : 'remove',
    list: 'additionalDirectories',
    items: adds ? directories : [...update.directories, ...directories],
  });
  const verb = adds ? 'added' : 'removed';
  return [`${verb} directories ${directories.join(', ')} (${update.destination})`, ...saved];
}

async function toFile(
  parts: UpdateParts,
  { destination }: PermissionUpdate,
  edit: SettingsEdit,
): Promise<readonly string[]> {
  if (destination === 'session' || destination === 'cliArg') return [];
  const saved = await parts.files.save(destination, edit);
  if (saved.ok) return [`saved in ${saved.value}`];
  return [told(parts, `it holds for this session only, because ${saved.error}`)];
}

function told(parts: UpdateParts, text: string): string {
  parts.emit({ type: 'notice', level: 'warning', text });
  return text;
}
