import { own } from '../../src/lib/own.js';
import type { Permit } from '../../src/permissions/gate/permit.js';
import type { Receipt } from '../../src/protocol/permissions.js';

/** For tools that a test runs by itself. It opens nothing: the gate did not make it. */
export function unusablePermit(receipt: Partial<Receipt>, input: unknown): Permit {
  const command = own(input as Record<string, unknown>, 'command');
  return { receipt, input, ...(typeof command === 'string' && { command }) } as Permit;
}
