import type { SandboxedProgram, WrappedProgram } from '../types.js';

/** What became of a program at the fence. */
export type Entered =
  | { readonly kind: 'as-is' }
  | { readonly kind: 'inside'; readonly wrapped: WrappedProgram }
  | { readonly kind: 'refused'; readonly reason: string };

/** Exactly this is spawned: the fence hands the rest in. */
export function programOf({ command, args, cwd, env }: WrappedProgram): SandboxedProgram {
  return { command, args, cwd, env };
}
