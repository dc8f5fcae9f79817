import { basename, displayPath, resolve } from '../../platform/fs/paths.js';
import type { CallView } from '../gate/view.js';
import { pathRulesIn, restrictedNames } from '../rules/list.js';
import type { RestrictionMatch, Rule } from '../rules/rule.js';
import type { CommandContext, TreeTarget } from '../shell/effects/recursion.js';
import type { TreeUse } from '../shell/effects/trees.js';
import type { SimpleCommand } from '../shell/model.js';
import {
  searchTree,
  type Tree,
  type TreeFinding,
  type TreeLook,
  type TreeName,
  untilTooLong,
} from './tree-walk.js';

type Match = RestrictionMatch | undefined;

/** Where a command runs, for everything that is looked up about it. */
export interface TreePlace {
  readonly rules: readonly Rule[];
  readonly view: CallView;
  readonly look: TreeLook;
  /** Where it may run; undefined when that is not known. */
  readonly directories: readonly string[] | undefined;
  /** Which names of a copy count; absent: all. */
  readonly isTarget?: (path: string) => Promise<boolean>;
}

/** How the walks of one call look at the disk, and until when. */
export function treeLook({ judge, home, call }: CallView): TreeLook {
  const elevated = /\b(?:sudo|doas|su|pkexec|run0)\b/.test(call.subject.command ?? '');
  return { judge, home, until: untilTooLong(), elevated };
}

/** The first that is sure, else the first that is possible. */
export async function surest(found: AsyncIterable<Match>): Promise<Match> {
  let possible: Match;
  for await (const one of found) {
    if (one?.sure === 'yes') return one;
    possible ??= one;
  }
  return possible;
}

export async function restrictingUses(uses: readonly TreeUse[], place: TreePlace): Promise<Match> {
  return await surest(matchesOf(uses, place));
}

async function* matchesOf(uses: readonly TreeUse[], place: TreePlace): AsyncGenerator<Match> {
  const { rules, view, directories } = place;
  for (const use of uses) {
    const { start, moves = [], access, onto, also } = use;
    view.judge.budget.spend(1 + moves.length * 10);
    const isChange = access !== 'read' || onto !== undefined || also !== undefined;
    const relevant = pathRulesIn(rules).find(({ spec }) => spec.access === 'read' || isChange);
    if (relevant === undefined) continue;
    const doubt = (detail: string): Match => ({ rule: relevant.rule, sure: 'maybe', detail });
    if (!start.literal) {
      // fail-closed: it may begin anywhere.
      yield doubt('it takes names of files from elsewhere');
    } else if (directories === undefined && !start.value.startsWith('/')) {
      yield doubt('the directory it runs in is decided at run time');
    } else {
      for (const directory of directories ?? ['/']) {
        const from = moves.reduce((at, move) => resolve(at, move), directory);
        const isNamed = start.pattern === undefined;
        const starts = isNamed ? [start.value] : await view.judge.expand(from, start.pattern ?? '');
        // fail-closed: what the shell makes of it is not known.
        if (starts === undefined) yield doubt('it begins where a pattern leads');
        for (const one of starts ?? []) {
          yield* matchesFrom({ from, start: one, isNamed }, use, place);
        }
      }
    }
  }
}

async function* matchesFrom(
  { from, start, isNamed }: { readonly from: string; readonly start: string; isNamed: boolean },
  use: TreeUse,
  { rules, view, look, isTarget }: TreePlace,
): AsyncGenerator<Match> {
  const { also } = use;
  for (const spellings of await view.judge.spellFrom(from, start)) {
    const names: TreeName[] = restrictedNames(spellings).map((path) => ({
      path,
      access: use.access === 'read' ? 'read' : 'write',
      ...(spellings.standsFor?.includes(path) === true ? { standIn: true } : {}),
    }));
    const targets = use.onto === undefined ? [] : await targetsOf(use.onto, { from, start }, view);
    for (const path of targets) {
      if ((await isTarget?.(path)) !== false) names.push({ path, access: 'write' });
    }
    const tree: Tree = {
      directory: spellings.real,
      names,
      follows: use.follows === true,
      depth: use.depth ?? Number.POSITIVE_INFINITY,
      skips: use.skips ?? {},
      known: use.known,
      text: isNamed ? start : undefined,
      handsOn: use.handsOn,
      isMeant: use.holding === undefined ? undefined : holds(use.holding, view),
      also: also && ((found) => also(found).map((path) => resolve(from, path))),
    };
    const finding = await searchTree(rules, tree, look);
    if (finding !== undefined) yield matchOf(finding, use, view);
  }
}

/** A search lists the files that have what it looks for. */
function holds(text: string, { judge }: CallView): (file: string) => Promise<boolean> {
  return async (file) => (await judge.disk.readText(file)).toLowerCase().includes(text);
}

/** The names under which a copy begins. */
async function targetsOf(
  { path, named }: TreeTarget,
  { from, start }: { readonly from: string; readonly start: string },
  { judge }: CallView,
): Promise<readonly string[]> {
  const inside = `${path}/${basename(resolve(from, start))}`;
  const isBelow =
    named === 'always' ||
    (named === 'in-directory' && (await isDirectory(judge, resolve(from, path))));
  // What is given as `dir/` keeps its name with some programs, with others only its content goes.
  const exact = !isBelow ? [path] : start.endsWith('/') ? [path, inside] : [inside];
  const spelled = await Promise.all(exact.map((one) => judge.spellFrom(from, one)));
  return spelled.flat().flatMap(restrictedNames);
}

async function isDirectory(judge: CallView['judge'], path: string): Promise<boolean> {
  const { real } = await judge.spell(path);
  return (await judge.disk.lstat(real))?.kind === 'directory';
}

function matchOf(finding: TreeFinding, use: TreeUse, view: CallView): RestrictionMatch {
  const { rule } = finding;
  if (finding.kind === 'unseen') {
    const detail = `${finding.why}, so that it cannot be told whether it is about any of them; name a narrower directory`;
    return { rule, sure: 'maybe', detail };
  }
  const { path, access, within } = finding;
  const shown = displayPath(path, view.call.workspace.cwd);
  const name = use.leaveOut?.(
    basename(within ?? path),
    within === undefined ? 'file' : 'directory',
  );
  const help =
    name === undefined
      ? 'name a narrower directory'
      : `leave it out with ${name}, or name a narrower directory`;
  const does = access === 'read' ? 'would read' : 'would change';
  if (use.unsure !== undefined) {
    return { rule, sure: 'maybe', path, detail: `it may take in ${shown}: ${use.unsure}` };
  }
  return { rule, sure: 'yes', path, detail: `it ${does} ${shown}; ${help}` };
}

/** What surrounds a command of a call and changes which directories it goes through. */
export function contextOf(command: SimpleCommand, { call, facts }: CallView): CommandContext {
  const text = call.subject.command ?? '';
  return {
    fed: command.piped === true || command.input !== '',
    names: (variable) => text.includes(variable),
    mayBeSet: (variable) => text.includes(variable) || facts.exported?.().has(variable) === true,
  };
}
