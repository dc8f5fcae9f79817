import type { Output } from '../output.js';

export async function run(_argv: readonly string[], _output: Output): Promise<number> {
  return 1;
}
