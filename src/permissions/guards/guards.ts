import { displayPath } from '../../platform/fs/paths.js';
import { TooComplexError } from '../gate/budget.js';
import { ASKS_PERSON, type Finding, type Guard, NOTHING } from '../gate/guard.js';
import { STANCES } from '../gate/modes.js';
import type { CallView } from '../gate/view.js';
import { manyNamedAmong, type PathSpellings } from '../paths/paths.js';
import { hasPathRules, restrictingPath } from '../rules/list.js';
import { findRestriction, needsShell } from '../rules/match.js';
import type { RestrictionMatch } from '../rules/rule.js';
import { criticalRemoval } from './critical-removals.js';
import { expectedEffect } from './effects.js';
import { protectedPart, staysClosed } from './protected-paths.js';

/** fail-closed: what takes too many steps to judge is asked about, deny rules or not. */
function guard(name: string, onFailure: Guard['onFailure'], decide: Guard['decide']): Guard {
  return {
    name,
    onFailure,
    async decide(view) {
      try {
        const finding = await decide(view);
        // Who takes a failed look for "nothing there" takes the limit for it too.
        if (finding.decision !== 'deny') view.judge.budget.spend(0);
        return finding;
      } catch (thrown) {
        if (!(thrown instanceof TooComplexError)) throw thrown;
        return { decision: 'ask', reason: thrown.message, source: 'analysis budget' };
      }
    },
  };
}

const denyRules = guard('deny rules', 'deny', async (view) => {
  const found = await findRestriction(view.rules.deny, view);
  if (found?.sure !== 'yes') return doubtAboutFile(found, view);
  const { rule, detail } = found;
  const reason = detail === undefined ? rule.text : `${rule.text}: ${detail}`;
  return { decision: 'deny', refusal: 'rule', source: rule.label, reason, detail };
});

const askRules = guard('ask rules', 'ask', async (view) => {
  const found = await findRestriction(view.rules.ask, view);
  if (found?.sure !== 'yes') return doubtAboutFile(found, view);
  const { text, label, origin } = found.rule;
  const about = found.detail === undefined ? 'this' : `this: ${found.detail}`;
  const reason = `the rule ${label} asks about ${about}`;
  return { decision: 'ask', reason, source: label, rule: { text, source: origin.source } };
});

/** fail-closed: a file that may be one that a rule is about is asked about. Commands are the next guard's. */
function doubtAboutFile(found: RestrictionMatch | undefined, { call }: CallView): Finding {
  if (found === undefined || call.subject.command !== undefined) return NOTHING;
  return doubt(`the call may be covered by ${found.rule.label}`, found);
}

function doubt(reason: string, found?: Pick<RestrictionMatch, 'rule' | 'detail'>): Finding {
  const why = found?.detail === undefined ? '' : `: ${found.detail}`;
  return { decision: 'ask', reason: reason + why, source: found?.rule.label };
}

/** Rules that may or may not cover a command: nobody can tell before it runs, so a person decides. */
const shellAnalysis = guard('shell analysis', 'ask', async (view) => {
  const lists = [view.rules.deny, view.rules.ask];
  if (!lists.some((rules) => needsShell(rules, view))) return NOTHING;
  const reading = await view.shell();
  // fail-closed: code that cannot be followed may do what a rule forbids.
  if (reading?.opaque !== undefined) {
    return doubt(`the command cannot be checked against the rules: ${reading.opaque}`);
  }
  for (const rules of lists) {
    const found = await findRestriction(rules, view);
    if (found?.sure === 'maybe') {
      return doubt(`the command may be covered by ${found.rule.label}`, found);
    }
  }
  const withPaths = lists.filter(hasPathRules);
  const { unknown, mayWrite } = await view.shellPaths();
  const possible = [
    ['the code it runs mentions', await view.mentionedPaths()],
    ['a word of the command may name', await view.attachedPaths()],
    ['the command may write', mayWrite],
  ] as const;
  for (const [how, touched] of possible) {
    for (const rules of withPaths) {
      const rule = restrictingPath(rules, touched, view.judge.budget);
      if (rule !== undefined) return doubt(`${how} a file that ${rule.label} is about`, { rule });
    }
  }
  return withPaths.length > 0 && unknown !== undefined
    ? doubt(`the command cannot be checked against the path rules: ${unknown}`)
    : NOTHING;
});

/** It names a file to write, or runs code that may write. */
function mayWrite({ call: { subject } }: CallView): boolean {
  return subject.command !== undefined || subject.paths.some(({ access }) => access === 'write');
}

const protectedPaths = guard(ASKS_PERSON.protectedPaths, 'ask', async (view) => {
  if (!mayWrite(view)) return NOTHING;
  const { roots, cwd } = view.call.workspace;
  const { command } = view.call.subject;
  const { agent, tool } = view.call;
  const notes = tool.kind === 'edit' ? (view.facts.notes?.(agent) ?? []) : [];
  const place = { roots: [...notes, ...roots], own: view.facts.own };
  const touched = [...(await view.paths()), ...(await view.shellPaths()).paths];
  // With all questions off, what could undo every later decision is still asked about.
  const isHeld =
    view.mode === 'bypassPermissions'
      ? (spellings: PathSpellings) => staysClosed(spellings, place)
      : (spellings: PathSpellings) => protectedPart(spellings, place) !== undefined;
  const held = ({ literal }: PathSpellings, what: string): Finding => ({
    decision: 'ask',
    reason: `${displayPath(literal, cwd)} ${what}`,
    source: 'protected path',
    blockedPath: literal,
  });
  const written = touched.filter(({ access }) => access === 'write');
  const named = written.find(({ spellings }) => isHeld(spellings));
  if (named !== undefined) return held(named.spellings, `is a ${PROTECTED}`);
  const given = (await view.shellPaths()).mayWrite.find(({ spellings }) => isHeld(spellings));
  if (given !== undefined) return held(given.spellings, `may be written, a ${PROTECTED}`);
  if (command !== undefined) {
    const { protectedDoubt } = await import('./protected-doubts.js');
    const doubt = await protectedDoubt(view, isHeld);
    if (doubt !== undefined) return held(spelledAs(doubt), `may be written, a ${PROTECTED}`);
    const { protectedByWalk } = await import('./protected-walks.js');
    const met = await protectedByWalk(view, (path) => isHeld(spelledAs(path)));
    if (met?.path !== undefined) {
      return held(spelledAs(met.path), `may be written on the way, a ${PROTECTED}`);
    }
    if (met !== undefined) {
      const reason = `it may change a ${PROTECTED}: ${met.detail}`;
      return { decision: 'ask', reason, source: 'protected path' };
    }
  }
  const files = await manyNamedAmong(written, view.judge);
  if (files.length === 0) return NOTHING;
  // Also of commands that name nothing protected: a second name may be any.
  const { protectedTwin } = await import('./protected-walks.js');
  const isProtected = (path: string): boolean => isHeld(spelledAs(path));
  const twin = await protectedTwin(files, view, { ...place, isHeld: isProtected });
  if (twin === undefined) return NOTHING;
  const other = twin.path === undefined ? undefined : displayPath(twin.path, cwd);
  return held(
    twin.of.spellings,
    other === undefined
      ? `has other names, and not every ${PROTECTED} could be compared with it`
      : `is another name of ${other}, a ${PROTECTED}`,
  );
});

/** A name that nothing on the disk was asked about. */
function spelledAs(path: string): PathSpellings {
  return { literal: path, real: path, resolved: [path] };
}

const PROTECTED = 'protected path that other programs run or trust';

const criticalRemovals = guard(ASKS_PERSON.criticalRemovals, 'ask', async (view) => {
  if (view.call.subject.command === undefined) return NOTHING;
  const removed = await criticalRemoval(view);
  if (removed === undefined) return NOTHING;
  const reason = `it removes ${removed}, which holds everything else`;
  return { decision: 'ask', reason, source: 'critical path' };
});

const planMode = guard(ASKS_PERSON.planMode, 'ask', async ({ mode, call: { tool } }) => {
  if (STANCES[mode][tool.kind] !== 'hold') return NOTHING;
  const reason = `${tool.name} changes files, which waits while in plan mode`;
  return { decision: 'ask', refusal: 'plan', reason, source: `mode ${mode}` };
});

const needsPerson = guard('needs a person', 'ask', async ({ call: { tool } }) => {
  if (tool.needsPerson !== true) return NOTHING;
  const reason = `${tool.name} is a question to a person`;
  return { decision: 'ask', reason, settledByAnswer: true };
});

/** In this order; the strictest wins, and among equals the first. */
export const STANDARD_GUARDS: readonly Guard[] = [
  denyRules,
  askRules,
  protectedPaths,
  criticalRemovals,
  planMode,
  shellAnalysis,
  guard('effect rules', 'deny', expectedEffect),
  needsPerson,
];

/**
 * Asks before a file of settings is written that lies somewhere else than settings usually do, in the
 * project too: what it says holds from then on.
 */
export function settingsFilesGuard(files: () => readonly string[]): Guard {
  return {
    name: ASKS_PERSON.settingsFiles,
    onFailure: 'ask',
    async decide(view) {
      const own = files();
      // A call that names no file to write and runs no code writes none.
      if (own.length === 0 || !mayWrite(view)) return NOTHING;
      const { paths } = await view.shellPaths();
      const found = [...(await view.paths()), ...paths].find(
        ({ access, spellings }) =>
          access === 'write' && own.includes(protectedPart(spellings, { roots: [], own }) ?? ''),
      );
      if (found === undefined) return NOTHING;
      const { literal } = found.spellings;
      const reason = `${literal} holds settings of this very session`;
      return { decision: 'ask', reason, source: 'protected path', blockedPath: literal };
    },
  };
}
