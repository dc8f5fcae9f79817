import { ANY_DEPTH, namesOf, type PathPattern, reaches, type Segment } from './path-pattern.js';
import type { Rule } from './rule.js';

export interface PathRule {
  readonly rule: Rule;
  readonly spec: Extract<Rule['spec'], { kind: 'path' }>;
  readonly order: number;
}

/** Path rules, by the directories that their patterns begin with. */
export interface PathIndex {
  readonly isEmpty: boolean;
  /** All of them, in the order of the list. */
  readonly rules: readonly PathRule[];
  /** The rules whose pattern covers the path, in the order of the list. */
  covering(path: string): readonly PathRule[];
}

interface Node {
  readonly below: Map<string, Node>;
  /** Patterns that end here: they cover the place and all below it. */
  readonly ends: PathRule[];
  /** Names that count at any depth below, and endings of names (`.key`). */
  readonly names: Map<string, PathRule[]>;
  readonly endings: Map<string, Pending[]>;
  /** Everything else that begins here. */
  readonly open: Pending[];
}

interface Pending {
  readonly entry: PathRule;
  readonly rest: readonly Segment[];
}

export function createPathIndex(rules: readonly Rule[]): PathIndex {
  // Grants compare to the letter, restrictions do not.
  const trees = new Map<boolean, Node>();
  const all: PathRule[] = [];
  rules.forEach((rule, order) => {
    if (rule.spec.kind !== 'path') return;
    const { spec } = rule;
    const entry = { rule, spec, order };
    all.push(entry);
    for (const pattern of [spec.pattern, ...(spec.also === undefined ? [] : [spec.also])]) {
      const tree = trees.get(pattern.folded) ?? newNode();
      trees.set(pattern.folded, tree);
      insert(tree, pattern, entry);
    }
  });
  return {
    isEmpty: trees.size === 0,
    rules: all,
    covering(path) {
      const found: PathRule[] = [];
      for (const [folded, tree] of trees) collect(tree, namesOf(path, folded), found);
      return found.length < 2 ? found : found.sort((a, b) => a.order - b.order);
    },
  };
}

function newNode(): Node {
  return { below: new Map(), ends: [], names: new Map(), endings: new Map(), open: [] };
}

function insert(tree: Node, { anchor, segments }: PathPattern, entry: PathRule): void {
  const wild = segments.findIndex((segment) => typeof segment !== 'string');
  const plain = wild === -1 ? segments : segments.slice(0, wild);
  let node = tree;
  for (const name of [...anchor, ...(plain as readonly string[])]) {
    const next = node.below.get(name) ?? newNode();
    node.below.set(name, next);
    node = next;
  }
  const rest = segments.slice(plain.length);
  const [first, second] = rest;
  if (rest.length === 0) node.ends.push(entry);
  else if (rest.length === 2 && first === ANY_DEPTH && typeof second === 'string') {
    push(node.names, second, entry);
  } else if (rest.length === 2 && first === ANY_DEPTH && endingOf(second) !== undefined) {
    push(node.endings, endingOf(second) ?? '', { entry, rest });
  } else node.open.push({ entry, rest });
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/** `.key` of `*.key`: what every name that fits ends with, from its last dot on. */
function endingOf(segment: Segment | undefined): string | undefined {
  if (segment === undefined || typeof segment === 'string' || segment === ANY_DEPTH)
    return undefined;
  let ending = '';
  for (let at = segment.length - 1; at >= 0; at--) {
    const token = segment[at];
    if (token?.kind !== 'char') return undefined;
    ending = token.char + ending;
    if (token.char === '.') return ending;
  }
  return undefined;
}

function collect(tree: Node, names: readonly string[], found: PathRule[]): void {
  let node: Node | undefined = tree;
  for (let at = 0; node !== undefined; at++) {
    found.push(...node.ends);
    for (const { entry, rest } of node.open) if (reaches(rest, names, at)) found.push(entry);
    if (node.names.size > 0 || node.endings.size > 0) collectFloating(node, names, { at, found });
    const name = names[at];
    node = name === undefined ? undefined : node.below.get(name);
  }
}

function collectFloating(
  node: Node,
  names: readonly string[],
  { at, found }: { at: number; found: PathRule[] },
): void {
  for (let index = at; index < names.length; index++) {
    const name = names[index] ?? '';
    found.push(...(node.names.get(name) ?? []));
    const dot = name.lastIndexOf('.');
    if (dot === -1) continue;
    for (const { entry, rest } of node.endings.get(name.slice(dot)) ?? []) {
      if (reaches(rest, names, at)) found.push(entry);
    }
  }
}
