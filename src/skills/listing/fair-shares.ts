/**
 * Divides `room` fairly: no share exceeds its need, and all that are cut get the same. Unneeded room goes
 * to the others. Whole numbers; the sum never exceeds the room.
 */
export function fairShares(needs: readonly number[], room: number): readonly number[] {
  const level = highestLevel(needs, Math.max(0, Math.floor(room)));
  return needs.map((need) => Math.max(0, Math.min(need, level)));
}

/** The highest share that all can get. It only rises, because small needs leave more for the others. */
function highestLevel(needs: readonly number[], room: number): number {
  let level = 0;
  for (;;) {
    let left = room;
    let above = 0;
    // An indexed loop, because an iterator would create an object per item in each round.
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
