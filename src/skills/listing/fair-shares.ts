/**
 * Divides `room` so that nobody gets more than is needed and whoever is cut gets as much as every
 * other who is cut. What one does not need goes to the others. Whole numbers; the sum never
 * exceeds the room.
 */
export function fairShares(needs: readonly number[], room: number): readonly number[] {
  const level = highestLevel(needs, Math.max(0, Math.floor(room)));
  return needs.map((need) => Math.max(0, Math.min(need, level)));
}

/** Up to where everybody may be served. It only rises: what fits below it leaves more for the others. */
function highestLevel(needs: readonly number[], room: number): number {
  let level = 0;
  for (;;) {
    let left = room;
    let above = 0;
    // Round after round over hundreds, for which an iterator would make an object each.
    for (let at = 0; at < needs.length; at++) {
      const need = needs[at] ?? 0;
      if (need > level) above += 1;
      else left -= Math.max(0, need);
    }
    if (above === 0) return level;
    const next = Math.floor(left / above);
    if (next <= level) return level;
    level = next;
  }
}
