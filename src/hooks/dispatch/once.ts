import { orAbort } from '../../lib/abort.js';

/** Which hooks that run once have run. */
export interface OnceLedger {
  hasRun(ids: readonly string[]): boolean;
  /**
   * Takes the right to run. Undefined: somebody else has run it. Where somebody is at it, waits for
   * how that ends. Rejects when the signal aborts.
   */
  claim(ids: readonly string[], signal: AbortSignal): Promise<OnceClaim | undefined>;
}

export interface OnceClaim {
  /** `ran`: never again. Otherwise the next one may. */
  settle(ran: boolean): void;
}

/** A hook and its copies in other files are one. */
export function createOnceLedger(): OnceLedger {
  const done = new Set<string>();
  const underWay = new Map<string, Promise<void>>();
  const hasRun = (ids: readonly string[]): boolean => ids.some((id) => done.has(id));
  return {
    hasRun,
    async claim(ids, signal) {
      while (!hasRun(ids)) {
        const other = ids.map((id) => underWay.get(id)).find((one) => one !== undefined);
        if (other !== undefined) {
          await orAbort(other, signal);
          continue;
        }
        let open: () => void = () => {};
        const mine = new Promise<void>((resolve) => {
          open = resolve;
        });
        for (const id of ids) underWay.set(id, mine);
        return {
          settle(ran) {
            for (const id of ids) {
              underWay.delete(id);
              if (ran) done.add(id);
            }
            open();
          },
        };
      }
      return undefined;
    },
  };
}
