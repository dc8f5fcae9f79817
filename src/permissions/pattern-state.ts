import { ANY_DEPTH, foldCase, type PathPattern, type Segment } from './path-pattern.js';
import { matches, type Token } from './wildcard.js';

/** How far a path has gone along a pattern that may yet cover something below it. */
export interface PatternState {
  readonly wanted: readonly Segment[];
  readonly folded: boolean;
  readonly at: number;
  /** It fits at any depth from here on. */
  readonly floats: boolean;
}

/** At the root of the file system. */
export function patternState({ anchor, segments, folded }: PathPattern): PatternState {
  return reached({ wanted: [...anchor, ...segments], folded, at: 0, floats: false });
}

/** One directory further; undefined when nothing in there can be covered. */
export function stepInto(state: PatternState, name: string): PatternState | undefined {
  const segment = state.wanted[state.at];
  // It covers a directory above, and so all that is in it.
  if (state.floats || segment === undefined || segment === ANY_DEPTH) return state;
  const text = state.folded ? foldCase(name) : name;
  const fits = typeof segment === 'string' ? segment === text : matches(segment, text);
  return fits ? reached({ ...state, at: state.at + 1 }) : undefined;
}

function reached(state: PatternState): PatternState {
  return state.wanted[state.at] === ANY_DEPTH ? { ...state, floats: true } : state;
}

/**
 * A quick look at a name: whether a pattern may end with it. Where no directory above is covered, only
 * what passes this can be.
 */
export function mayEndPattern(patterns: readonly PathPattern[]): (name: string) => boolean {
  const plain = new Set<string>();
  const wild: (readonly Token[])[] = [];
  let isAny = false;
  for (const { anchor, segments } of patterns) {
    const last = [...anchor, ...segments].findLast((segment) => segment !== ANY_DEPTH);
    if (typeof last === 'string') plain.add(last);
    else if (last !== undefined) wild.push(last);
    else isAny = true;
  }
  return (name) => {
    const folded = foldCase(name);
    if (isAny || plain.has(folded) || plain.has(name)) return true;
    return wild.some((tokens) => matches(tokens, folded) || matches(tokens, name));
  };
}
