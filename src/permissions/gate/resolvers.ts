import { type Coverage, coverageOf, type GrantPlace } from '../grants/shell-grants.js';
import { matchesDomain } from '../rules/domain.js';
import { exactRule, rulesForTool, type ToolRules } from '../rules/list.js';
import { fieldText, grantingPath } from '../rules/match.js';
import type { Rule } from '../rules/rules.js';
import { matches } from '../rules/wildcard.js';
import type { ShellReading } from '../shell/model.js';
import { TooComplexError } from './budget.js';
import type { Approval, Resolver } from './guard.js';
import { STANCES } from './modes.js';
import type { CallView, TouchedPath } from './view.js';

/** fail-closed: an input that a hook has changed is not what the person typed. */
const typed: Resolver = {
  name: 'typed by the person',
  decide: async ({ call: { typed: words, input } }) =>
    words !== undefined && JSON.stringify(words) === JSON.stringify(input)
      ? { ...allow('the person typed this call', 'typed by the person'), verbatim: true }
      : undefined,
};

const mode: Resolver = {
  name: 'mode',
  decide: async (view) =>
    STANCES[view.mode][view.call.tool.kind] === 'allow'
      ? allow(`${view.call.tool.kind} tools run in mode ${view.mode}`, `mode ${view.mode}`)
      : undefined,
};

/** Rules that open a tool, a host or a named thing; paths and commands have resolvers of their own. */
const allowRules: Resolver = {
  name: 'allow rules',
  async decide(view) {
    const mine = rulesForTool(view.rules.allow, view.names);
    const rule = mine.any ?? wholeCall(mine, view) ?? mine.others.find((one) => opens(one, view));
    if (rule === undefined) return undefined;
    const { label } = rule;
    return allow(`the rule ${label} allows it`, label);
  },
};

/** The rule that has the very text of the whole call, compound or not. */
function wholeCall({ commands }: ToolRules, { call }: CallView): Rule | undefined {
  return exactRule(commands, call.subject.command?.trim() ?? '')?.rule;
}

function opens({ spec }: Rule, { call }: CallView): boolean {
  if (spec.kind === 'domain') {
    return call.subject.url !== undefined && matchesDomain(spec.pattern, call.subject.url);
  }
  const value = spec.kind === 'field' ? fieldText(spec, call.input) : undefined;
  return spec.kind === 'field' && value !== undefined && matches(spec.value, value);
}

/** Every file must be inside the workspace where the mode says so, or be opened by a rule. */
const paths: Resolver = {
  name: 'paths',
  decide: async (view) =>
    view.call.tool.kind === 'read' || view.call.tool.kind === 'edit'
      ? openPaths(view, view.call.tool.kind)
      : undefined,
};

async function openPaths(view: CallView, kind: 'read' | 'edit'): Promise<Approval | undefined> {
  const touched = await view.paths();
  const stance = STANCES[view.mode][kind];
  if (touched.length === 0) {
    return kind === 'read' && stance === 'inside'
      ? allow('it touches no file', 'read-only')
      : undefined;
  }
  const sources = new Set<string>();
  for (const path of touched) {
    const source = await openerOf(path, view, { insideIsFine: stance === 'inside' });
    if (source === undefined) return undefined;
    sources.add(source);
  }
  const source = [...sources].join(', ');
  return allow(`every path is open: ${source}`, source);
}

async function openerOf(
  { access, spellings }: TouchedPath,
  view: CallView,
  { insideIsFine }: { insideIsFine: boolean },
): Promise<string | undefined> {
  const readable = access === 'read' && STANCES[view.mode].read === 'inside';
  if ((insideIsFine || readable) && (await view.judge.inside(spellings)))
    return 'working directories';
  return grantingPath(view.rules.allow, spellings, (rule) => {
    if (rule.spec.kind !== 'path') return false;
    if (access === 'write' && rule.spec.access !== 'write') return false;
    return rule.spec.everyTool || rule.matchesTool(view.names);
  })?.label;
}

const shell: Resolver = {
  name: 'shell commands',
  decide: async (view) =>
    view.call.subject.command === undefined ? undefined : coveredCommands(view),
};

async function coveredCommands(view: CallView): Promise<Approval | undefined> {
  const reading = await view.shell();
  if (reading === undefined) return undefined;
  const coverage = await coverageIn(view, reading, {
    allow: view.rules.allow,
    looking: view.facts.askReadOnly?.() !== true,
    fileCommands: STANCES[view.mode].execute === 'inside',
  });
  if (!coverage.covered) return { decision: 'pass', reason: coverage.reason };
  const source = coverage.by.join(', ');
  return allow(`every command is covered: ${source}`, source);
}

/** In this order; the first that opens the call decides. */
export const STANDARD_RESOLVERS: readonly Resolver[] = [typed, mode, allowRules, paths, shell];

function allow(reason: string, source: string): Approval {
  return { decision: 'allow', reason, source };
}

/** Whether a command may run beside others: it is harmless, and leaves the shell where it is. */
export async function runsBeside(view: CallView): Promise<boolean> {
  const reading = await view.shell();
  const moves = reading?.commands.some(({ words }) => words.some(({ value }) => value === 'cd'));
  return moves === false && (await isHarmless(view));
}

/** Whether a call surely leaves files and programs as they are, so that what was seen stays true. */
export async function isHarmless(view: CallView): Promise<boolean> {
  const { tool, subject } = view.call;
  if (subject.command === undefined) {
    return tool.kind !== 'edit' && tool.kind !== 'execute';
  }
  const reading = await view.shell();
  // fail-closed: code that was not parsed may do anything.
  if (reading === undefined) return false;
  const coverage = await coverageIn(view, reading, {
    allow: [],
    looking: true,
    fileCommands: false,
  }).catch(notJudged);
  return coverage.covered && coverage.writes.length === 0;
}

/** fail-closed: what takes too many steps to judge is not known to be harmless. */
function notJudged(thrown: unknown): Coverage {
  if (thrown instanceof TooComplexError) return { covered: false, reason: thrown.message };
  throw thrown;
}

/** What covers the commands of a call, where it is made. */
function coverageIn(
  { judge, home, names, facts, call }: CallView,
  reading: ShellReading,
  by: Pick<GrantPlace, 'allow' | 'looking' | 'fileCommands'>,
): Promise<Coverage> {
  const { cwd, roots } = call.workspace;
  const { own } = facts;
  const exported = facts.exported?.();
  return coverageOf(reading, { judge, cwd, roots, home, names, own, exported, ...by });
}
