/** By signal: what is to be called when it is aborted. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `act` once when the signal is aborted, unless it is taken back before. Where many come and go with one
 * signal, as the requests of an agent do: the signal itself hears of the first only, as a listener costs more
 * than the rest of a request's bookkeeping.
 */
export function callOnAbort(signal: AbortSignal, act: () => void): void {
  let acts = waiting.get(signal);
  if (acts === undefined) {
    acts = new Set();
    waiting.set(signal, acts);
    signal.addEventListener('abort', () => callAll(signal), { once: true });
  }
  acts.add(act);
}

export function takeBackOnAbort(signal: AbortSignal, act: () => void): void {
  waiting.get(signal)?.delete(act);
}

/** One that fails does not keep the others from it. */
function callAll(signal: AbortSignal): void {
  const acts = waiting.get(signal) ?? new Set();
  let failure: { readonly thrown: unknown } | undefined;
  for (const act of acts) {
    // Whoever is taken back by one before it is not called.
    if (!acts.delete(act)) continue;
    try {
      act();
    } catch (thrown) {
      failure ??= { thrown };
    }
  }
  if (failure !== undefined) throw failure.thrown;
}
