import { messageOf, PortcullisError } from '../errors.js';
import { nodeFileSystem, resolvePath } from '../harness.js';
import { parseJson } from '../util/json.js';
import { isRecord } from '../util/own.js';
import type { Options } from './types/index.js';

/** The options `settings` and `sandbox` as one text of settings; undefined when neither is given. */
export async function readSettings(options: Options, cwd: string): Promise<string | undefined> {
  const { settings, sandbox } = options;
  if (sandbox === undefined) {
    return typeof settings === 'object' ? JSON.stringify(settings) : settings;
  }
  const base = typeof settings === 'string' ? await parsed(settings, cwd) : (settings ?? {});
  const strict = sandbox.enabled === true ? { failIfUnavailable: true } : {};
  return JSON.stringify({ ...base, sandbox: { ...strict, ...sandbox } });
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
