import { isInside } from '../../platform/fs/paths.js';
import { type Finding, NOTHING } from '../gate/guard.js';
import { isHarmless } from '../gate/resolvers.js';
import type { CallView, TouchedPath } from '../gate/view.js';
import type { EffectName, RestrictionMatch, Rule } from '../rules/rule.js';
import { removals, simpleFileUse } from '../shell/effects/uses.js';
import type { ShellReading, ShellWord } from '../shell/model.js';

/** The effects as they stand in rules, with the words for a question. */
const EFFECT_WORDS: Readonly<Record<EffectName, string>> = {
  writes: 'changes files',
  'writes:outside': 'writes outside of the working directories',
  deletes: 'deletes files',
};

/** Those rules of a list that are about effects. */
export function effectRulesIn(rules: readonly Rule[]): readonly Rule[] {
  return rules.filter(({ spec }) => spec.kind === 'effect');
}

export function effectOf({ spec }: Rule): EffectName | undefined {
  return spec.kind === 'effect' ? spec.effect : undefined;
}

/** Asks about, or refuses, what a call is going to do to files as far as that can be seen beforehand. */
export async function expectedEffect(view: CallView): Promise<Finding> {
  const denied = await effectRestriction(view.rules.deny, view);
  if (denied?.sure === 'yes') {
    const { text, label } = denied.rule;
    return { decision: 'deny', refusal: 'rule', reason: text, source: label };
  }
  // fail-closed: where the text does not say it, a person decides.
  if (denied !== undefined) return asks(denied);
  const asked = await effectRestriction(view.rules.ask, view);
  if (asked === undefined) return NOTHING;
  const { text, origin } = asked.rule;
  return { ...asks(asked), rule: { text, source: origin.source } };
}

/** An effect rule of a list that surely covers the call, else one that may. */
export async function effectRestriction(
  rules: readonly Rule[],
  view: CallView,
): Promise<RestrictionMatch | undefined> {
  let doubt: RestrictionMatch | undefined;
  for (const rule of effectRulesIn(rules)) {
    const effect = effectOf(rule);
    const sure = effect === undefined ? 'no' : await expected(view, effect);
    if (sure === 'yes') return { rule, sure };
    if (sure === 'maybe') doubt ??= { rule, sure };
  }
  return doubt;
}

function asks({ rule, sure }: RestrictionMatch): Finding {
  const effect = effectOf(rule) ?? 'writes';
  const how = sure === 'yes' ? 'it' : 'nobody can tell beforehand whether it';
  const reason = `${how} ${EFFECT_WORDS[effect]}, which the rule ${rule.label} is about`;
  return { decision: 'ask', reason, source: rule.label };
}

type Sure = 'yes' | 'maybe' | 'no';

async function expected(view: CallView, effect: EffectName): Promise<Sure> {
  const { tool } = view.call;
  if (tool.kind === 'edit') return await ofEdit(view, effect);
  // fail-closed: what a server says of its tools is no proof.
  if (tool.origin !== undefined || tool.name.startsWith('mcp__')) return 'maybe';
  if (tool.kind !== 'execute') return 'no';
  if (await isHarmless(view)) return 'no';
  const reading = await view.shell();
  const deletes = reading?.commands.some(({ views }) => views.some(isDeletion));
  if (effect === 'deletes' && deletes === true) return 'yes';
  if (reading === undefined || reading.opaque !== undefined) return 'maybe';
  if (effect === 'deletes') return await unlessKnown(reading);
  const { paths, unknown } = await view.shellPaths();
  const written = paths.filter(({ access }) => access === 'write');
  if (effect === 'writes') return written.length > 0 ? 'yes' : 'maybe';
  if (written.some((path) => leaves(path, view))) return 'yes';
  const mentioned = await view.mentionedPaths();
  const doubt = unknown !== undefined || mentioned.some((path) => leaves(path, view));
  return doubt ? 'maybe' : await unlessKnown(reading);
}

/** fail-closed: the effects of an unknown program on files are unknown. */
async function unlessKnown({ commands }: ShellReading): Promise<Sure> {
  // Few rules are about effects, and its tables are large.
  const { looksOf } = await import('./workspace/words.js');
  const isKnown = (words: readonly ShellWord[]): boolean =>
    looksOf(words) !== undefined || simpleFileUse(words) !== undefined;
  // What a variable is set to may be a program that another one runs.
  const isPlain = commands.every(
    ({ words, assignments, views }) =>
      (words.length === 0 || assignments.length === 0) && views.every(isKnown),
  );
  return isPlain ? 'no' : 'maybe';
}

async function ofEdit(view: CallView, effect: EffectName): Promise<Sure> {
  if (effect === 'writes') return 'yes';
  if (effect === 'deletes') return 'no';
  return (await view.paths()).some((path) => leaves(path, view)) ? 'yes' : 'no';
}

/** fail-closed: one of its names outside is enough. */
function leaves({ spellings }: TouchedPath, { call }: CallView): boolean {
  const names = [spellings.literal, ...spellings.resolved];
  return names.some((name) => !call.workspace.roots.some((root) => isInside(name, root)));
}

/** Commands whose purpose it is. Others are held to it by what they did. */
function isDeletion(words: Parameters<typeof removals>[0]): boolean {
  if (removals(words).length > 0) return true;
  const [first, ...rest] = words.map(({ value }) => value);
  const program = first?.split('/').at(-1) ?? '';
  if (/^(rm|rmdir|unlink|shred|trash)$/.test(program)) return true;
  if (program === 'find') return rest.includes('-delete');
  if (program === 'rsync') return rest.some((word) => word.startsWith('--delete'));
  if (program === 'git') return rest.some((word) => word === 'clean' || word === 'rm');
  return false;
}
