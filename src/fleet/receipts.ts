import { ChainReader, type ChainState } from '../journal/chain.js';
import { sha256 } from '../platform/hash.js';

/** Whether nobody changed, removed or inserted a receipt. */
export function verifyReceipts(lines: readonly string[]): ChainState {
  const chain = new ChainReader(sha256);
  for (const line of lines) chain.read(line);
  return chain.state();
}
