import type { FileStat } from '../../platform/fs/fs.js';
import { basename, displayPath } from '../../platform/fs/paths.js';
import type { PathAccess } from '../../tools/tool.js';
import { ASKS_PERSON, type Finding, type Guard, NOTHING, unlessTooComplex } from '../gate/guard.js';
import { STANCES } from '../gate/modes.js';
import type { CallView, TouchedPath } from '../gate/view.js';
import type { PathSpellings } from '../paths/paths.js';
import { hasPathRules, restrictingPath } from '../rules/list.js';
import { findRestriction, needsShell } from '../rules/match.js';
import type { RestrictionMatch } from '../rules/rule.js';
import { removals } from '../shell/effects/uses.js';
import type { ShellWord } from '../shell/model.js';
import { effectRules } from './effects.js';
import {
  isCriticalPath,
  type ProtectedPlace,
  protectedPart,
  staysClosed,
} from './protected-paths.js';

const denyRules: Guard = {
  name: 'deny rules',
  onFailure: 'deny',
  decide: async (view) => (view.rules.deny.length === 0 ? NOTHING : unlessTooComplex(denied(view))),
};

async function denied(view: CallView): Promise<Finding> {
  const found = await findRestriction(view.rules.deny, view);
  if (found?.sure !== 'yes') return doubtAboutFile(found, view);
  const { rule, detail } = found;
  const held = { decision: 'deny', refusal: 'rule', source: rule.label } as const;
  if (detail === undefined) return { ...held, reason: rule.text };
  return { ...held, reason: `${rule.text}: ${detail}`, detail };
}

/** fail-closed: a file that may be one that a rule is about is asked about. Commands are the next guard's. */
function doubtAboutFile(found: RestrictionMatch | undefined, { call }: CallView): Finding {
  if (found === undefined || call.subject.command !== undefined) return NOTHING;
  const { rule, detail } = found;
  const why = detail === undefined ? '' : `: ${detail}`;
  const reason = `the call may be covered by ${rule.label}${why}`;
  return { decision: 'ask', reason, source: rule.label };
}

const askRules: Guard = {
  name: 'ask rules',
  onFailure: 'ask',
  decide: async (view) =>
    view.rules.ask.length === 0 ? NOTHING : unlessTooComplex(askedAbout(view)),
};

async function askedAbout(view: CallView): Promise<Finding> {
  const found = await findRestriction(view.rules.ask, view);
  if (found?.sure !== 'yes') return doubtAboutFile(found, view);
  const about = found.detail === undefined ? 'this' : `this: ${found.detail}`;
  const reason = `the rule ${found.rule.label} asks about ${about}`;
  const { text, label, origin } = found.rule;
  return { decision: 'ask', reason, source: label, rule: { text, source: origin.source } };
}

/** Rules that may or may not cover a command: nobody can tell before it runs, so a person decides. */
const shellAnalysis: Guard = {
  name: 'shell analysis',
  onFailure: 'ask',
  decide: async (view) =>
    needsShell(view.rules.deny, view) || needsShell(view.rules.ask, view)
      ? unlessTooComplex(doubted(view))
      : NOTHING,
};

async function doubted(view: CallView): Promise<Finding> {
  const lists = [view.rules.deny, view.rules.ask];
  const reading = await view.shell();
  const doubt = (reason: string, source?: string): Finding => ({
    decision: 'ask',
    reason,
    source,
  });
  // fail-closed: code that cannot be followed may do what a rule forbids.
  if (reading?.opaque !== undefined) {
    return doubt(`the command cannot be checked against the rules: ${reading.opaque}`);
  }
  for (const rules of lists) {
    const possible = await findRestriction(rules, view);
    if (possible?.sure === 'maybe') {
      const { rule, detail } = possible;
      const why = detail === undefined ? '' : `: ${detail}`;
      return doubt(`the command may be covered by ${rule.label}${why}`, rule.label);
    }
  }
  const withPaths = lists.filter((rules) => hasPathRules(rules));
  const mentioned = await view.mentionedPaths();
  for (const rules of withPaths) {
    const rule = restrictingPath(rules, mentioned);
    if (rule === undefined) continue;
    return doubt(`the code it runs mentions a file that ${rule.label} is about`, rule.label);
  }
  for (const rules of withPaths) {
    const rule = restrictingPath(rules, await view.attachedPaths());
    if (rule === undefined) continue;
    return doubt(`a word of the command may name a file that ${rule.label} is about`, rule.label);
  }
  const { unknown, mayWrite } = await view.shellPaths();
  for (const rules of withPaths) {
    const rule = restrictingPath(rules, mayWrite);
    if (rule === undefined) continue;
    return doubt(`the command may write a file that ${rule.label} is about`, rule.label);
  }
  return withPaths.length > 0 && unknown !== undefined
    ? doubt(`the command cannot be checked against the path rules: ${unknown}`)
    : NOTHING;
}

const protectedPaths: Guard = {
  name: ASKS_PERSON.protectedPaths,
  onFailure: 'ask',
  decide: async (view) => (mayWrite(view) ? unlessTooComplex(protectedWrite(view)) : NOTHING),
};

/** It names a file to write, or runs code that may write. */
function mayWrite({ call: { subject } }: CallView): boolean {
  return subject.command !== undefined || subject.paths.some(isWritten);
}

function isWritten({ access }: PathAccess): boolean {
  return access === 'write';
}

async function protectedWrite(view: CallView): Promise<Finding> {
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
  const twin = await twinOf(written, { view, place, isHeld });
  return twin === undefined ? NOTHING : held(twin.spellings, twin.what);
}

/** A name that nothing on the disk was asked about. */
function spelledAs(path: string): PathSpellings {
  return { literal: path, real: path, resolved: [path] };
}

const PROTECTED = 'protected path that other programs run or trust';

/**
 * Of files with several names the one that is, or may be, a protected one. Also of commands that name
 * nothing protected: a second name may be any.
 */
async function twinOf(
  touched: readonly TouchedPath[],
  about: {
    readonly view: CallView;
    readonly place: ProtectedPlace;
    readonly isHeld: (spellings: PathSpellings) => boolean;
  },
): Promise<{ readonly spellings: PathSpellings; readonly what: string } | undefined> {
  const { view, place, isHeld } = about;
  const { judge, home } = view;
  const found = new Map<FileStat, PathSpellings>();
  for (const { access, spellings } of touched) {
    const file = access === 'write' ? await judge.manyNamed(spellings) : undefined;
    if (file !== undefined) found.set(file, spellings);
  }
  const [first] = found.values();
  if (first === undefined) return undefined;
  const { protectedTwin } = await import('./protected-twins.js');
  const where = { disk: judge.disk, roots: place.roots, home, own: place.own ?? [] };
  const twin = await protectedTwin([...found.keys()], where, (path) => isHeld(spelledAs(path)));
  if (twin === undefined) return undefined;
  if (twin.of === undefined) {
    const what = `has other names, and not all of ${twin.doubt} could be compared with it`;
    return { spellings: first, what };
  }
  const other = displayPath(twin.path, view.call.workspace.cwd);
  const what = `is another name of ${other}, a ${PROTECTED}`;
  return { spellings: found.get(twin.of) ?? first, what };
}

const criticalRemovals: Guard = {
  name: ASKS_PERSON.criticalRemovals,
  onFailure: 'ask',
  decide: async (view) =>
    view.call.subject.command === undefined ? NOTHING : unlessTooComplex(criticalRemoval(view)),
};

async function criticalRemoval(view: CallView): Promise<Finding> {
  const { cwd, roots } = view.call.workspace;
  const place = { cwd, roots, home: view.home };
  for (const command of (await view.shell())?.commands ?? []) {
    for (const words of command.views) {
      for (const word of removals(words)) {
        for (const directory of command.directories ?? (await anyPlaces(word, words, view))) {
          if (await isCriticalWord(word, directory, { view, place })) {
            const reason = `it removes ${word.raw}, which holds everything else`;
            return { decision: 'ask', reason, source: 'critical path' };
          }
        }
      }
    }
  }
  return NOTHING;
}

/** Where a command may be whose directory is not known; the root only where it removes one that is there. */
async function anyPlaces(
  { value }: ShellWord,
  words: readonly ShellWord[],
  { call, home, judge }: CallView,
): Promise<readonly string[]> {
  const [top = ''] = value.split('/', 1);
  const isWhole = words.some((word) => /^-[a-zA-Z]*[rR]|^--r/.test(word.value));
  const found = isWhole && top !== '' && (await judge.disk.lstat(`/${top}`).catch(() => 'unseen'));
  return found ? [call.workspace.cwd, home, '/'] : [call.workspace.cwd, home];
}

const planMode: Guard = {
  name: ASKS_PERSON.planMode,
  onFailure: 'ask',
  decide: async ({ mode, call }) =>
    STANCES[mode][call.tool.kind] === 'hold'
      ? {
          decision: 'ask',
          refusal: 'plan',
          reason: `${call.tool.name} changes files, which waits while in plan mode`,
          source: `mode ${mode}`,
        }
      : NOTHING,
};

const needsPerson: Guard = {
  name: 'needs a person',
  onFailure: 'ask',
  decide: async ({ call }) =>
    call.tool.needsPerson === true
      ? {
          decision: 'ask',
          reason: `${call.tool.name} is a question to a person`,
          settledByAnswer: true,
        }
      : NOTHING,
};

/** In this order; the strictest wins, and among equals the first. */
export const STANDARD_GUARDS: readonly Guard[] = [
  denyRules,
  askRules,
  protectedPaths,
  criticalRemovals,
  planMode,
  shellAnalysis,
  effectRules,
  needsPerson,
];

async function isCriticalWord(
  word: ShellWord,
  directory: string,
  { view, place }: { view: CallView; place: Parameters<typeof isCriticalPath>[1] },
): Promise<boolean> {
  // `$DIR/` and `$DIR/*` are the root when the variable is empty.
  if (!word.literal) return /^"?\$\{?\w+\}?[/"*]*$/.test(word.raw) && word.raw.includes('/');
  const isCritical = (path: PathSpellings): boolean => isCriticalPath(path, place);
  if (word.pattern === undefined) {
    return (await view.judge.spellFrom(directory, word.value)).some(isCritical);
  }
  // A wildcard directly below such a place empties it.
  const above = word.value.slice(0, word.value.lastIndexOf('/') + 1);
  const spelled = await view.judge.spellFrom(directory, above === '' ? '.' : above);
  if (!spelled.some(isCritical)) return false;
  const { home } = place;
  const isNarrow =
    /\w{2}/.test(word.value.slice(above.length).replace(/\[[^\]]*\]?/g, '')) &&
    !spelled.some((path) => isCriticalPath(path, { cwd: home, home, roots: [] }));
  // In a working directory a part of a name chooses some files, and those are looked at.
  const chosen = isNarrow ? await view.judge.expand(directory, word.pattern) : undefined;
  if (chosen === undefined) return true;
  return (await Promise.all(chosen.map(async (path) => await view.judge.spell(path)))).some(
    isCritical,
  );
}

/**
 * Asks before a file of settings is written that lies somewhere else than settings usually do, in the
 * project too: what it says holds from then on.
 */
export function settingsFilesGuard(files: () => readonly string[]): Guard {
  return {
    name: ASKS_PERSON.settingsFiles,
    onFailure: 'ask',
    async decide(view) {
      // Whoever names no file to write and runs no code writes none.
      if (!mayWrite(view)) return NOTHING;
      const own = files();
      return own.length === 0 ? NOTHING : writtenBy(view, own);
    },
  };
}

async function writtenBy(view: CallView, own: readonly string[]): Promise<Finding> {
  const { command } = view.call.subject;
  const isNamed = own.some((file) => command?.includes(basename(file)) === true);
  const touched = [...(await view.paths()), ...(isNamed ? (await view.shellPaths()).paths : [])];
  const found = touched.find(
    ({ access, spellings }) =>
      access === 'write' && own.includes(protectedPart(spellings, { roots: [], own }) ?? ''),
  );
  if (found === undefined) return NOTHING;
  return {
    decision: 'ask',
    reason: `${found.spellings.literal} holds settings of this very session`,
    source: 'protected path',
    blockedPath: found.spellings.literal,
  };
}
