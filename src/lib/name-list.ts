import { sortedNames } from './sorted-names.js';

/**
 * Names in the order of `sortedNames`, as one text with a name on each line. Whoever tells of thousands
 * of names passes that text on, and nobody looks at one of them before it is wanted.
 */
export class NameList {
  readonly count: number;
  readonly text: string;

  constructor(text: string, count: number) {
    this.text = text;
    this.count = count;
  }

  /** From names that are in order already. */
  static of(names: readonly string[]): NameList {
    return new NameList(names.join('\n'), names.length);
  }

  get names(): readonly string[] {
    return this.text === '' ? [] : this.text.split('\n');
  }
}

/**
 * Lists of several owners such that all names, read one list after the other, are in the order of
 * `sortedNames`. Names of an owner begin alike: mostly one list goes before the next as a whole, and no
 * name is compared.
 */
export function inOrder(lists: readonly NameList[]): readonly NameList[] {
  const placed = lists.filter(({ text }) => text !== '').map(placeOf);
  placed.sort((a, b) => (isBefore(a.first, b.first) ? -1 : isBefore(b.first, a.first) ? 1 : 0));
  const isMixed = placed.some(({ first }, at) => {
    const before = placed[at - 1];
    return before !== undefined && isBefore(first, before.last);
  });
  const ordered = placed.map(({ list }) => list);
  return isMixed ? [NameList.of(sortedNames(ordered.flatMap(({ names }) => names)))] : ordered;
}

function placeOf(list: NameList) {
  const { text } = list;
  const end = text.indexOf('\n');
  const first = end === -1 ? text : text.slice(0, end);
  return { list, first: keyOf(first), last: keyOf(text.slice(text.lastIndexOf('\n') + 1)) };
}

/** Folded once, and not for every comparison. */
interface Key {
  readonly name: string;
  readonly folded: string;
}

function keyOf(name: string): Key {
  return { name, folded: name.toLowerCase() };
}

/** As `sortedNames` orders two names. */
function isBefore(one: Key, other: Key): boolean {
  return one.folded === other.folded ? one.name < other.name : one.folded < other.folded;
}
