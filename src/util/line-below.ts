/** The line of a field, or of a name that stands in it or below it; of a text where there is no such name. */
export function lineBelow(
  text: string,
  line: number | undefined,
  inner?: string,
): number | undefined {
  if (line === undefined || inner === undefined) return line;
  const lines = text.split(/\r\n?|\n/).slice(line - 1);
  const named = lines.findIndex((one, at) => at > 0 && one.trimStart().startsWith(`${inner}:`));
  const below = named === -1 ? lines.findIndex((one) => one.includes(inner)) : named;
  return below === -1 ? line : line + below;
}
