import { err, ok, type Result } from '../result.js';
import { PatternError, type PatternNode, readPattern } from './linear-pattern-reader.js';

/** A regular expression that is searched for in time proportional to text times pattern, always. */
export interface LinearPattern {
  /** Whether it occurs anywhere in the text. */
  test(text: string): boolean;
}

type Step =
  | { readonly op: 'char'; readonly fits: (char: string) => boolean }
  | { readonly op: 'fork'; readonly to: readonly number[] }
  | { readonly op: 'at'; readonly holds: (before: string, after: string) => boolean }
  | { readonly op: 'end' };

/** Repetitions are written out, so their number is bounded. */
const MAX_STEPS = 2_000;

/**
 * Compiles the regular part of JavaScript's expressions: characters, classes, groups, alternatives,
 * repetition, anchors. What needs backtracking (lookaround, back-references) is refused, not
 * approximated. All positions of the pattern are followed at once, so nothing can blow up.
 */
export function linearPattern(
  source: string,
  options: { readonly ignoreCase: boolean },
): Result<LinearPattern, string> {
  try {
    const node = readPattern(source, options);
    const steps: Step[] = [];
    emit(node, steps);
    steps.push({ op: 'end' });
    return ok({ test: (text) => search(steps, text) });
  } catch (thrown) {
    if (thrown instanceof PatternError) return err(thrown.message);
    throw thrown;
  }
}

function emit(node: PatternNode, steps: Step[]): void {
  if (steps.length > MAX_STEPS) throw new PatternError('it repeats too much');
  switch (node.kind) {
    case 'char':
      steps.push({ op: 'char', fits: node.fits });
      return;
    case 'at':
      steps.push({ op: 'at', holds: node.holds });
      return;
    case 'sequence':
      for (const part of node.parts) emit(part, steps);
      return;
    case 'choice':
      emitChoice(node.parts, steps);
      return;
    case 'repeat':
      emitRepeat(node, steps);
      return;
  }
}

function emitChoice(parts: readonly PatternNode[], steps: Step[]): void {
  const entries: number[] = [];
  const fork = steps.push({ op: 'fork', to: entries }) - 1;
  const exits: number[][] = [];
  for (const part of parts) {
    entries.push(steps.length);
    emit(part, steps);
    const exit: number[] = [];
    exits.push(exit);
    steps.push({ op: 'fork', to: exit });
  }
  for (const exit of exits) exit.push(steps.length);
  if (entries.length === 0) entries.push(fork + 1);
}

function emitRepeat(node: Extract<PatternNode, { kind: 'repeat' }>, steps: Step[]): void {
  for (let count = 0; count < node.min; count++) emit(node.part, steps);
  if (node.max === Number.POSITIVE_INFINITY) {
    const loop: number[] = [];
    const start = steps.push({ op: 'fork', to: loop }) - 1;
    loop.push(steps.length);
    emit(node.part, steps);
    steps.push({ op: 'fork', to: [start] });
    loop.push(steps.length);
    return;
  }
  const skips: number[][] = [];
  for (let count = node.min; count < node.max; count++) {
    const skip: number[] = [steps.length + 1];
    skips.push(skip);
    steps.push({ op: 'fork', to: skip });
    emit(node.part, steps);
  }
  for (const skip of skips) skip.push(steps.length);
}

function search(steps: readonly Step[], text: string): boolean {
  const chars = [...text];
  let current = new Set<number>();
  for (let at = 0; at <= chars.length; at++) {
    const before = chars[at - 1] ?? '';
    const char = chars[at] ?? '';
    current.add(0);
    const reached = follow(steps, current, { before, after: char });
    if (reached.has(steps.length - 1)) return true;
    const next = new Set<number>();
    for (const index of reached) {
      const step = steps[index];
      if (step?.op === 'char' && char !== '' && step.fits(char)) next.add(index + 1);
    }
    current = next;
  }
  return false;
}

/** Every step that can be reached without reading a character. */
function follow(
  steps: readonly Step[],
  from: ReadonlySet<number>,
  place: { readonly before: string; readonly after: string },
): ReadonlySet<number> {
  const reached = new Set(from);
  // A set that grows while it is walked: its new members are walked too.
  for (const index of reached) {
    const step = steps[index];
    if (step?.op === 'fork') for (const target of step.to) reached.add(target);
    else if (step?.op === 'at' && step.holds(place.before, place.after)) reached.add(index + 1);
  }
  return reached;
}
