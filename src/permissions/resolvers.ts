import { matchesDomain } from './domain.js';
import type { Opening, Resolver } from './guard.js';
import { STANCES } from './modes.js';
import { pathIsGranted, scalarText } from './rule-match.js';
import type { Rule } from './rules.js';
import { coverageOf } from './shell-grants.js';
import type { CallView, TouchedPath } from './view.js';
import { matches } from './wildcard.js';

const mode: Resolver = {
  name: 'mode',
  decide: (view) =>
    STANCES[view.mode][view.call.tool.kind] === 'allow'
      ? allow(`${view.call.tool.kind} tools run in mode ${view.mode}`, `mode ${view.mode}`)
      : undefined,
};

/** Rules that open a tool, a host or a named thing; paths and commands have resolvers of their own. */
const allowRules: Resolver = {
  name: 'allow rules',
  decide(view) {
    const rule = view.rules.allow.find((one) => one.matchesTool(view.names) && opens(one, view));
    return rule === undefined ? undefined : allow(`the rule ${rule.label} allows it`, rule.label);
  },
};

function opens({ spec }: Rule, { call }: CallView): boolean {
  switch (spec.kind) {
    case 'any':
      return true;
    case 'command':
      // The very text of the whole call, compound or not.
      return (
        spec.pattern.tokens === undefined && call.subject.command?.trim() === spec.pattern.text
      );
    case 'domain':
      return call.subject.url !== undefined && matchesDomain(spec.pattern, call.subject.url);
    case 'field': {
      const value = scalarText(call.input, spec.field);
      return value !== undefined && matches(spec.value, value);
    }
    case 'path':
      return false;
  }
}

/** Every file must be inside the workspace where the mode says so, or be opened by a rule. */
const paths: Resolver = {
  name: 'paths',
  async decide(view) {
    const { kind } = view.call.tool;
    if (kind !== 'read' && kind !== 'edit') return undefined;
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
  },
};

async function openerOf(
  { access, spellings }: TouchedPath,
  view: CallView,
  { insideIsFine }: { insideIsFine: boolean },
): Promise<string | undefined> {
  const readable = access === 'read' && STANCES[view.mode].read === 'inside';
  if ((insideIsFine || readable) && (await view.judge.inside(spellings)))
    return 'working directories';
  return view.rules.allow.find((rule) => {
    if (rule.spec.kind !== 'path') return false;
    if (access === 'write' && rule.spec.access !== 'write') return false;
    if (!rule.spec.everyTool && !rule.matchesTool(view.names)) return false;
    return pathIsGranted(rule.spec.pattern, spellings);
  })?.label;
}

const shell: Resolver = {
  name: 'shell commands',
  async decide(view) {
    const reading = await view.shell();
    if (reading === undefined) return undefined;
    const { cwd, roots } = view.call.workspace;
    const coverage = await coverageOf(reading, {
      judge: view.judge,
      cwd,
      roots,
      home: view.home,
      commandRules: view.rules.allow.filter((rule) => rule.matchesTool(view.names)),
      pathRules: view.rules.allow.filter(
        (rule) => rule.spec.kind === 'path' && rule.spec.everyTool,
      ),
      fileCommands: STANCES[view.mode].execute === 'inside',
    });
    if (!coverage.covered) return { decision: 'pass', reason: coverage.reason };
    const source = coverage.by.join(', ');
    return allow(`every command is covered: ${source}`, source);
  },
};

/** In this order; the first that opens the call decides. */
export const STANDARD_RESOLVERS: readonly Resolver[] = [mode, allowRules, paths, shell];

function allow(reason: string, source: string): Opening {
  return { decision: 'allow', reason, source };
}
