import { AbortError, HOOK_EVENTS, query } from 'the-sdk';

export async function within(prompt: string, milliseconds: number): Promise<boolean> {
  const abortController = new AbortController();
  const timer = setTimeout(() => abortController.abort(), milliseconds);
  try {
    for await (const _ of query({ prompt, options: { abortController } })) void _;
    return true;
  } catch (thrown) {
    if (thrown instanceof AbortError) return false;
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
}

export const events: readonly string[] = HOOK_EVENTS;
