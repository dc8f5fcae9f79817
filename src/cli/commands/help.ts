import { help } from '../help.js';
import type { Output } from '../output.js';

export function run(_argv: readonly string[], output: Output): Promise<number> {
  output.out(help());
  return Promise.resolve(0);
}
