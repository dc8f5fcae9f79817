import type { ModelClient, ModelEvent } from './client.js';

/**
 * The same client, read no faster than whoever is told of it can take it in. Without this a reader that
 * stands still would make us keep everything that a model says.
 */
export function paced<Client extends ModelClient>(
  client: Client,
  ready: (() => Promise<void> | undefined) | undefined,
): Client {
  if (ready === undefined) return client;
  const inner = client.stream.bind(client);
  return {
    ...client,
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      for await (const event of inner(request, signal)) {
        yield event;
        const behind = ready();
        if (behind !== undefined) await untilAborted(behind, signal);
      }
    },
  };
}

async function untilAborted(wait: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let stop: () => void = () => undefined;
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener('abort', stop, { once: true });
  });
  await Promise.race([wait, aborted]);
  signal.removeEventListener('abort', stop);
}
