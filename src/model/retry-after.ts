/** How long the server asks us to wait, from `retry-after-ms` or `retry-after` (seconds or a date). */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  now: number,
): number | undefined {
  const exact = numeric(headers['retry-after-ms']);
  if (exact !== undefined) return Math.ceil(exact);
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  const seconds = numeric(value);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numeric(text: string | undefined): number | undefined {
  if (text === undefined || !/^\s*\d+(\.\d+)?\s*$/.test(text)) return undefined;
  return Number(text);
}
