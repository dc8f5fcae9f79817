/** Longest silence of a model's stream before it is given up. */
export const DEFAULT_IDLE_TIMEOUT_MS = 5 * 60_000;

/** How long the end of the body may take after the answer's last event. */
export const FINISH_GRACE_MS = 50;

/** More is not looked at of what is not a stream. */
export const MAX_BODY_CHARS = 1024 * 1024;

/** How long an error may take to tell what it is; it says enough by then. */
const BODY_MS = 10_000;

/**
 * The text of a body that is not a stream: an error, a page, a list. What comes after a mebibyte or
 * ten seconds is left out, so that a server cannot keep us by dripping.
 */
export async function readAll(
  chunks: AsyncIterable<string>,
  limits: { readonly maxMs?: number } = {},
): Promise<string> {
  const iterator = chunks[Symbol.asyncIterator]();
  let giveUp: (result: IteratorResult<string>) => void = () => undefined;
  const late = new Promise<IteratorResult<string>>((resolve) => {
    giveUp = resolve;
  });
  const timer = setTimeout(() => giveUp({ done: true, value: undefined }), limits.maxMs ?? BODY_MS);
  let text = '';
  try {
    while (text.length <= MAX_BODY_CHARS) {
      const next = await Promise.race([iterator.next(), late]);
      if (next.done === true) break;
      text += next.value;
    }
  } finally {
    clearTimeout(timer);
    // Not waited for: a reader that is stuck in the middle would keep us after all.
    void iterator.return?.();
  }
  return text;
}
