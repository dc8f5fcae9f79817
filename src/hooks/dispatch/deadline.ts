/** How a piece of work ended for the one who waited for it. */
export type Timed<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'threw'; readonly thrown: unknown }
  /** Its time was over. */
  | { readonly kind: 'late' }
  /** Nobody wants it any more. */
  | { readonly kind: 'cancelled' };

export interface Limit {
  readonly ms: number;
  /** Aborts when nobody wants the result any more. */
  readonly signal: AbortSignal;
}

/**
 * Waits for work, no longer than its limit, whatever the work makes of the signal it is given. What
 * it gives when its time is over goes to `afterwards`.
 */
export function withDeadline<T>(
  { ms, signal }: Limit,
  work: (signal: AbortSignal) => Promise<T>,
  afterwards: (value: T) => void = () => {},
): Promise<Timed<T>> {
  if (signal.aborted) return Promise.resolve({ kind: 'cancelled' });
  return new Promise((resolve) => {
    const own = new AbortController();
    // Of its own: dozens wait at once, and a signal complains about more than ten listeners.
    const ends = AbortSignal.any([signal]);
    let ended: Timed<T>['kind'] | undefined;
    const end = (how: Timed<T>): void => {
      if (ended !== undefined) return;
      ended = how.kind;
      clearTimeout(timer);
      ends.removeEventListener('abort', cancel);
      resolve(how);
    };
    const cancel = (): void => {
      end({ kind: 'cancelled' });
      own.abort(signal.reason);
    };
    const timer = setTimeout(() => {
      end({ kind: 'late' });
      own.abort(new Error(`no answer within ${ms / 1000} s`));
    }, ms);
    ends.addEventListener('abort', cancel, { once: true });
    started(work, own.signal).then(
      (value) => {
        if (ended === 'late') afterwards(value);
        end({ kind: 'done', value });
      },
      (thrown: unknown) => end({ kind: 'threw', thrown }),
    );
  });
}

/** What throws at once fails like what fails later. */
async function started<T>(
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return await work(signal);
}
