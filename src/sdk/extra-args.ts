import { PortcullisError } from '../errors.js';
import type { Options } from './types/index.js';

/** Flags of the command line that programs pass on. */
export interface ExtraArgs {
  readonly switches: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

const SWITCHES: ReadonlySet<string> = new Set([
  'replay-user-messages',
  'include-decisions',
  'include-partial-messages',
  'include-hook-events',
  'strict-mcp-config',
  'no-session-persistence',
  'trust',
  'debug-to-stderr',
  'debug',
  'verbose',
]);

const VALUES: ReadonlySet<string> = new Set(['name', 'script']);

export function readExtraArgs(given: Options['extraArgs']): ExtraArgs {
  const switches = new Set<string>();
  const values = new Map<string, string>();
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(given ?? {})) {
    // fail-closed: a plugin that is left out may have brought a guard.
    if (name.startsWith('plugin-dir')) {
      throw new PortcullisError('usage', `extraArgs: --${name} is not read here`, {
        remedy: 'use the option plugins',
      });
    }
    if (SWITCHES.has(name)) switches.add(name);
    else if (VALUES.has(name) && value !== null) values.set(name, value);
    else warnings.push(`extraArgs: --${name} is not known here and has no effect`);
  }
  return { switches, values, warnings };
}
