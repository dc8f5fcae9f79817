import { own } from '../../lib/own.js';
import { originOf } from '../../lib/sourced.js';
import { STANDARD_RESOLVERS } from '../../permissions/gate/resolvers.js';
import type { CallView } from '../../permissions/gate/view.js';
import { NO_RULES, parseRule, type Rule, type RuleKind } from '../../permissions/rules/rules.js';
import type { SourcedRule } from '../../settings/types.js';
import { pluginDirectories, type Skill } from '../skill.js';

export interface SkillRuleParts {
  readonly cwd: string;
  readonly home: string;
  /** The directory that a leading `/` in a path rule stands for. */
  readonly projectDir: string;
  /** Tools of this session besides the built-in ones. */
  knownTools?(): readonly string[];
  /** Set when only an administrator's rules may grant. */
  managedOnly?(): string | undefined;
}

/** The tool rules in a skill's front matter. */
export interface SkillRules {
  readonly allow: readonly Rule[];
  readonly deny: readonly Rule[];
  /** The only calls allowed, and the location of that field. Absent: no restriction to these. */
  readonly fence?: { readonly rules: readonly Rule[]; readonly origin: string };
  /** Ignored parts of the front matter, with reasons. */
  readonly notes: readonly string[];
  /** Set when a restriction cannot be enforced, so that the skill must not run. */
  readonly broken?: string;
}

/**
 * Parses a skill's rules; `directory` is the project as the agent sees it, possibly a worktree. A grant
 * that is invalid or not permitted is dropped with a note. fail-closed: an invalid restriction keeps the
 * skill from running.
 */
export function rulesOf(
  skill: Skill,
  session: SkillRuleParts,
  directory = session.projectDir,
): SkillRules {
  const { allowedTools = [], disallowedTools = [], fenceTools } = skill.head;
  const isElsewhere = directory !== session.projectDir;
  const parts = isElsewhere ? { ...session, cwd: directory, projectDir: directory } : session;
  const read = (kind: RuleKind, key: string, texts: readonly string[]) =>
    readRules(texts, { kind, key, skill, parts });
  const withheld = withheldBecause(skill, parts);
  const allow =
    allowedTools.length > 0 && withheld !== undefined
      ? { rules: [], lost: [`allowed-tools is not in force: ${withheld}`] }
      : read('allow', 'allowed-tools', allowedTools);
  const banned = readRules(disallowedTools, {
    kind: 'deny',
    key: 'disallowed-tools',
    skill,
    parts: session,
  });
  // Bans on project paths hold in worktrees anyway; bans on commands are added for both spellings.
  const alsoBanned = isElsewhere
    ? read('deny', 'disallowed-tools', disallowedTools.filter(namesProject))
    : { rules: [], lost: [] };
  const deny = {
    rules: [...banned.rules, ...alsoBanned.rules],
    lost: [...banned.lost, ...alsoBanned.lost],
  };
  // Each entry of `fence-tools` allows something, so a lost one only restricts more.
  const fence = fenceTools === undefined ? undefined : read('allow', 'fence-tools', fenceTools);
  const [broken] = deny.lost;
  return {
    allow: allow.rules,
    deny: deny.rules,
    fence:
      fence === undefined ? undefined : { rules: fence.rules, origin: fenceOrigin(skill, parts) },
    notes: [...allow.lost, ...(fence?.lost ?? [])],
    broken,
  };
}

function fenceOrigin(skill: Skill, parts: SkillRuleParts): string {
  const place = sourced('', { kind: 'allow', key: 'fence-tools', skill, parts });
  return `fence-tools of ${skill.name} (${originOf(place)})`;
}

function withheldBecause(skill: Skill, parts: SkillRuleParts): string | undefined {
  // fail-closed: a folder that no person has trusted grants nothing.
  if (!skill.trusted) return `the folder it comes from is not trusted (${skill.file})`;
  return skill.source === 'managed' ? undefined : parts.managedOnly?.();
}

interface ReadContext {
  readonly kind: RuleKind;
  readonly key: string;
  readonly skill: Skill;
  readonly parts: SkillRuleParts;
}

function readRules(
  texts: readonly string[],
  context: ReadContext,
): { readonly rules: readonly Rule[]; readonly lost: readonly string[] } {
  const { kind, key, parts } = context;
  const { cwd, home, knownTools } = parts;
  const rules: Rule[] = [];
  const lost: string[] = [];
  for (const text of texts) {
    const placed = withDirectories(text, context);
    const parsed =
      'why' in placed
        ? placed
        : parseRule(kind, sourced(placed.text, context), {
            cwd,
            home,
            knownTools: knownTools?.() ?? [],
          });
    if ('rule' in parsed)
      rules.push(parsed.rule, ...(parsed.below === undefined ? [] : [parsed.below]));
    else lost.push(`${key}: "${text}" is not in force: ${parsed.why}`);
  }
  return { rules, lost };
}

function sourced(text: string, { skill, key, parts }: ReadContext): SourcedRule {
  const line = own(skill.head.lines ?? {}, key);
  return {
    value: { text, root: parts.projectDir },
    source: skill.source,
    file: skill.file,
    line,
    trusted: skill.trusted,
  };
}

function namesProject(text: string): boolean {
  return /\$\{CLAUDE_PROJECT_DIR\}/.test(text);
}

const DIRECTORY = /\$\{(CLAUDE_[A-Z_]+)\}/g;

/** Fills in the directories in rules like `Bash(${CLAUDE_SKILL_DIR}/check.sh *)`. */
function withDirectories(
  text: string,
  { skill, parts }: ReadContext,
): { readonly text: string } | { readonly why: string } {
  const names = [...text.matchAll(DIRECTORY)].map(([, name = '']) => name);
  if (names.length === 0) return { text };
  if (!/^\s*Bash\s*\(/.test(text)) return { why: 'only rules for Bash may name a directory so' };
  const directories = new Map([
    ['CLAUDE_SKILL_DIR', skill.directory],
    ['CLAUDE_PROJECT_DIR', parts.projectDir],
    ...pluginDirectories(skill),
  ]);
  for (const name of names) {
    const directory = directories.get(name);
    if (directory === undefined) return { why: `it names ${name}, which is no directory here` };
    // fail-closed: blanks or quotes in the path would change the command of the rule.
    if (/[^\w/.:@+,=%-]/.test(directory)) {
      return { why: `${directory} holds characters that a command line reads in another way` };
    }
  }
  return { text: text.replace(DIRECTORY, (all, name) => directories.get(name) ?? all) };
}

/** The resolvers that apply rules, without the one for the mode. */
const BY_RULE = STANDARD_RESOLVERS.filter(({ name }) => name !== 'mode');

/**
 * Whether these rules cover the call on their own, without the usual permissions for working directories
 * and read-only commands.
 */
export async function isCovered(rules: readonly Rule[], view: CallView): Promise<boolean> {
  const bare: CallView = {
    ...view,
    mode: 'bypassPermissions',
    rules: { ...NO_RULES, allow: rules },
    facts: { ...view.facts, askReadOnly: () => true },
  };
  for (const resolver of BY_RULE) {
    if ((await resolver.decide(bare))?.decision === 'allow') return true;
  }
  return false;
}
