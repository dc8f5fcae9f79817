import { sortedNames } from '../util/sorted-names.js';

/**
 * The names of all servers in the order of `sortedNames`. Each list is in this order already, and names
 * of a server begin alike: mostly one list goes before the next as a whole, and no name is compared.
 */
export function mergedNames(lists: readonly (readonly string[])[]): readonly string[] {
  const blocks = lists.flatMap((names) => {
    const [first] = names;
    const last = names.at(-1);
    return first === undefined || last === undefined
      ? []
      : [{ names, first: placeOf(first), last: placeOf(last) }];
  });
  blocks.sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const all = blocks.flatMap(({ names }) => names);
  const isMixed = blocks.some(({ first }, at) => first < (blocks[at - 1]?.last ?? ''));
  return isMixed ? sortedNames(all) : all;
}

function placeOf(name: string): string {
  return `${name.toLowerCase()}\0${name}`;
}
