import { nodeFileSystem, resolvePath } from '../app.js';
import { messageOf, PortcullisError } from '../errors.js';
import { parseJson } from '../lib/json.js';
import { isRecord, own } from '../lib/own.js';
import type { Options } from './types/index.js';

/** The options `settings` and `sandbox` as one text of settings; undefined when neither is given. */
export async function readSettings(options: Options, cwd: string): Promise<string | undefined> {
  const { settings, sandbox } = options;
  if (sandbox === undefined) {
    return typeof settings === 'object' ? JSON.stringify(settings) : settings;
  }
  const base = typeof settings === 'string' ? await parsed(settings, cwd) : (settings ?? {});
  const strict = sandbox.enabled === true ? { failIfUnavailable: true } : {};
  const given = { ...strict, ...sandbox };
  const merged = base.sandbox === undefined ? given : merge('sandbox', base.sandbox, given);
  return JSON.stringify({ ...base, sandbox: merged });
}

/** Switches of the sandbox that hold back when they are on; all others let through then. */
const STRICT_WHEN_ON: ReadonlySet<string> = new Set([
  'enabled',
  'failIfUnavailable',
  'strictAllowlist',
  'allowManagedDomainsOnly',
  'allowManagedReadPathsOnly',
]);

/** Lists add up, of a switch the strict value wins, of any other value the second one. */
function merge(name: string, first: unknown, second: unknown): unknown {
  if (first === undefined || second === undefined) return first ?? second;
  if (isRecord(first) && isRecord(second)) {
    const keys = new Set([...Object.keys(first), ...Object.keys(second)]);
    return Object.fromEntries(
      [...keys].map((key) => [key, merge(key, own(first, key), own(second, key))]),
    );
  }
  if (Array.isArray(first) && Array.isArray(second)) return [...first, ...second];
  if (typeof first === 'boolean' && typeof second === 'boolean') {
    return STRICT_WHEN_ON.has(name) ? first || second : first && second;
  }
  if (typeof first === typeof second && typeof first !== 'object') return second;
  // fail-closed: of two values of which one is of a wrong type, neither can be left out.
  throw new PortcullisError('config', `the options settings and sandbox disagree on "${name}"`, {
    remedy: 'give it once, with a value of the right type',
  });
}

async function parsed(text: string, cwd: string): Promise<Record<string, unknown>> {
  const source = text.trimStart().startsWith('{') ? text : await fileText(resolvePath(cwd, text));
  const read = parseJson(source);
  if (read.ok && isRecord(read.value)) return read.value;
  // fail-closed: what settings that cannot be read were to hold back would be let through.
  throw new PortcullisError('config', 'the option settings is not a JSON object');
}

async function fileText(path: string): Promise<string> {
  try {
    return await nodeFileSystem.readText(path);
  } catch (thrown) {
    throw new PortcullisError(
      'config',
      `the settings ${path} cannot be read: ${messageOf(thrown)}`,
    );
  }
}
