let lastTime = Number.NaN;
let lastText = '';
/** When the second began that it lay in, and the text of that up to its thousandths. */
let second = Number.NaN;
let beginning = '';

/**
 * A time in milliseconds as ISO text. Much is written down within one second, and much of that within one
 * millisecond, so what the last one has in common with this is not worked out again.
 */
export function isoTime(time: number): string {
  if (time === lastTime) return lastText;
  const thousandths = time - second;
  if (thousandths >= 0 && thousandths < 1000 && Number.isInteger(thousandths)) {
    const zeros = thousandths < 10 ? '00' : thousandths < 100 ? '0' : '';
    lastText = `${beginning}${zeros}${thousandths}Z`;
  } else {
    lastText = new Date(time).toISOString();
    // A date leaves parts of a millisecond out, before 1970 too.
    second = Math.floor(Math.trunc(time) / 1000) * 1000;
    beginning = lastText.slice(0, -'000Z'.length);
  }
  lastTime = time;
  return lastText;
}
