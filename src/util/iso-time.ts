let lastTime = Number.NaN;
let lastText = '';

/** A time in milliseconds as ISO text. Much is written down within one millisecond, so the last one is kept. */
export function isoTime(time: number): string {
  if (time !== lastTime) {
    lastText = new Date(time).toISOString();
    lastTime = time;
  }
  return lastText;
}
