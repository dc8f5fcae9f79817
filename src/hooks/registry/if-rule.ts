import { messageOf } from '../../errors.js';
import type { CallView } from '../../permissions/gate/view.js';
import { effectRestriction } from '../../permissions/guards/effects.js';
import { hasPathRules, restrictingPath } from '../../permissions/rules/list.js';
import { findRestriction, needsShell } from '../../permissions/rules/match.js';
import { parseRule, type Rule } from '../../permissions/rules/rules.js';
import type { SourcedRule } from '../../settings/types.js';

export interface IfRuleDeps {
  /** The directory that a leading `/` in a path means. */
  readonly root: string;
  readonly ignoresCase?: boolean;
  /** Tools of this session beyond the built-in ones. */
  readonly knownTools?: () => readonly string[];
  /** Told once for each rule: its hooks run as if they had none. */
  readonly onUnreadable?: (rule: string, why: string) => void;
}

/** Whether an `if` fits a call. */
type IfRule = (view: CallView) => (rule: string) => Promise<boolean>;

/** Undefined: it cannot be read. */
type Parsed = readonly Rule[] | undefined;

/**
 * An `if` is read as a restriction is: it looks at each part of a command, through disguises and
 * into substitutions, and what could fit fits. A hook that runs too often guards more than it need.
 */
export function createIfRule(deps: IfRuleDeps): IfRule {
  const told = new Set<string>();
  const parsed = (text: string, view: CallView): Parsed => {
    const rule = parseRule('deny', sourced(text, deps.root), {
      cwd: view.call.workspace.cwd,
      home: view.home,
      knownTools: deps.knownTools?.() ?? [],
      ignoresCase: deps.ignoresCase,
    });
    if ('rule' in rule) return [rule.rule, ...(rule.below === undefined ? [] : [rule.below])];
    if (!told.has(text)) {
      told.add(text);
      deps.onUnreadable?.(text, rule.why);
    }
    return undefined;
  };
  return (view) => async (text) => {
    if (text.trim() === '') return true;
    const rules = parsed(text, view);
    // fail-closed: an unreadable rule fits every call.
    if (rules === undefined) return true;
    try {
      return await mayFit(rules, view);
    } catch (thrown) {
      // fail-closed: a call that cannot be looked at may be one that is meant.
      deps.onUnreadable?.(text, messageOf(thrown));
      return true;
    }
  };
}

/** Whether the rule fits, or may fit. */
async function mayFit(rules: readonly Rule[], view: CallView): Promise<boolean> {
  if ((await findRestriction(rules, view)) !== undefined) return true;
  if ((await effectRestriction(rules, view)) !== undefined) return true;
  if (!needsShell(rules, view)) return false;
  const reading = await view.shell();
  // fail-closed: code that cannot be followed may do what is looked for.
  if (reading?.opaque !== undefined) return true;
  if (!hasPathRules(rules)) return false;
  if (restrictingPath(rules, await view.mentionedPaths(), view.judge.budget) !== undefined)
    return true;
  return (await view.shellPaths()).unknown !== undefined;
}

function sourced(text: string, root: string): SourcedRule {
  return { value: { text, root }, source: 'builtin', trusted: true };
}
