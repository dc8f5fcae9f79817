import { ChainReader, type ChainState } from '../journal/chain.js';

/** Whether nobody changed, removed or inserted a receipt. */
export function verifyReceipts(lines: readonly string[]): ChainState {
  const chain = new ChainReader();
  for (const line of lines) chain.read(line);
  return chain.state();
}
