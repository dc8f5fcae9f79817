/**
 * Divides `room` so that nobody gets more than is needed and whoever is cut gets as much as every
 * other who is cut. What one does not need goes to the others. Whole numbers; the sum never
 * exceeds the room.
 */
export function fairShares(needs: readonly number[], room: number): readonly number[] {
  const shares = needs.map(() => 0);
  let left = Math.max(0, Math.floor(room));
  const open = needs
    .map((need, index) => ({ need: Math.max(0, need), index }))
    .sort((a, b) => a.need - b.need);
  open.forEach(({ need, index }, at) => {
    const share = Math.min(need, Math.floor(left / (open.length - at)));
    shares[index] = share;
    left -= share;
  });
  return shares;
}
