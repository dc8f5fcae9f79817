import type { Permit } from '../../src/permissions/permit.js';
import type { Receipt } from '../../src/protocol/permissions.js';

/** For tools that a test runs by itself. It opens nothing: the gate did not make it. */
export function unusablePermit(receipt: Partial<Receipt>, input: unknown): Permit {
  return { receipt, input } as Permit;
}
