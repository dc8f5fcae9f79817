/** Longest silence of a model's stream before it is given up. */
export const DEFAULT_IDLE_TIMEOUT_MS = 5 * 60_000;

/** How long the end of the body may take after the answer's last event. */
export const FINISH_GRACE_MS = 50;

const MAX_BODY_CHARS = 1024 * 1024;

/** The whole text of a body that is not a stream: an error, a page, an unstreamed answer. */
export async function readAll(
  chunks: AsyncIterable<string>,
  maxChars = MAX_BODY_CHARS,
): Promise<string> {
  let text = '';
  for await (const chunk of chunks) {
    text += chunk;
    if (text.length > maxChars) break;
  }
  return text;
}
