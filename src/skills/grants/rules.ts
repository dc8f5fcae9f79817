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
  /** What a leading `/` in a path rule stands for. */
  readonly projectDir: string;
  /** Tools of this session beyond the built-in table. */
  knownTools?(): readonly string[];
  /** Set when an administrator lets no other rules grant than his own. */
  managedOnly?(): string | undefined;
}

/** What the head of a skill says about tools, as rules. */
export interface SkillRules {
  readonly allow: readonly Rule[];
  readonly deny: readonly Rule[];
  /** Nothing but these, and where that is written. Absent: no fence. */
  readonly fence?: { readonly rules: readonly Rule[]; readonly origin: string };
  /** What of the head is not in force, and why. */
  readonly notes: readonly string[];
  /** Set when a restriction cannot be honoured: the skill is not to be invoked. */
  readonly broken?: string;
}

/**
 * `directory` is the project as the agent has it, which may work in a tree of its own. A grant that
 * cannot be read or may not be given is lost with a note. fail-closed: a restriction that cannot be
 * read keeps the skill from being invoked.
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
  // A ban on paths of the project holds in its trees by itself; of commands both spellings are meant.
  const alsoBanned = isElsewhere
    ? read('deny', 'disallowed-tools', disallowedTools.filter(namesProject))
    : { rules: [], lost: [] };
  const deny = {
    rules: [...banned.rules, ...alsoBanned.rules],
    lost: [...banned.lost, ...alsoBanned.lost],
  };
  // Each entry lets something through, so that a lost one makes the fence narrower.
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
  // fail-closed: a folder that nobody has accepted grants nothing.
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

/** `Bash(${CLAUDE_SKILL_DIR}/check.sh *)` is about the program in the skill's own directory. */
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
    // fail-closed: a blank or a quote in the path would make another command of the rule.
    if (/[^\w/.:@+,=%-]/.test(directory)) {
      return { why: `${directory} holds characters that a command line reads in another way` };
    }
  }
  return { text: text.replace(DIRECTORY, (all, name) => directories.get(name) ?? all) };
}

/** What rules open by themselves, without what a mode lets through. */
const BY_RULE = STANDARD_RESOLVERS.filter(({ name }) => name !== 'mode');

/**
 * Whether these rules cover the call: judged as if nothing else were open, no file of the working
 * directories and no command that only looks.
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
