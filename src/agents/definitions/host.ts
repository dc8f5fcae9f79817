import { PortcullisError } from '../../errors.js';
import { parseJson } from '../../lib/json.js';
import { isRecord } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import { visible } from '../../lib/text/visible.js';
import { sha256 } from '../../platform/hash.js';
import type { AgentDefinition, AgentFinding, AgentProblem } from './definition.js';
import { readFields } from './fields.js';
import { typeKey } from './names.js';
import { KNOWN_TOOLS } from './tools.js';

/** Definitions of `--agents` or a host's `initialize` by name, or the same as JSON text. */
export type HostAgents = string | Readonly<Record<string, unknown>>;

export interface ReadHostAgents {
  readonly definitions: readonly AgentDefinition[];
  /** Warnings only. */
  readonly problems: readonly AgentProblem[];
}

const PLACE = '--agents';
const MOST_AGENTS = 500;

/**
 * Definitions by flag or host. fail-closed: one invalid definition refuses them all, because the caller
 * can correct it.
 */
export function readHostAgents(
  given: HostAgents | undefined,
  { knownTools = KNOWN_TOOLS }: { readonly knownTools?: readonly string[] } = {},
): Result<ReadHostAgents, string> {
  const value = typeof given === 'string' ? parsed(given) : ok(given ?? {});
  if (!value.ok) return value;
  const entries = Object.entries(value.value);
  if (entries.length > MOST_AGENTS) return err(`${PLACE}: there are more than ${MOST_AGENTS}`);
  const definitions: AgentDefinition[] = [];
  const problems: AgentProblem[] = [];
  const wrong: string[] = [];
  for (const [name, entry] of entries) {
    const read = readEntry(name, entry, knownTools);
    if (!read.ok) wrong.push(`${PLACE}: ${visible(name)}: ${read.error}`);
    else {
      const { definition, findings } = read.value;
      const isTwice = definitions.some((one) => typeKey(one.name) === typeKey(definition.name));
      if (isTwice) wrong.push(`${PLACE}: ${definition.name} is defined twice`);
      definitions.push(definition);
      problems.push(
        ...findings.map((one) => ({ ...one, source: 'flag', place: PLACE, name }) as const),
      );
    }
  }
  return wrong.length === 0 ? ok({ definitions, problems }) : err(wrong.join('\n'));
}

/** fail-closed: starting without the given agents would be another session than the one asked for. */
export function refuseHostAgents(
  { definitions }: ReadHostAgents,
  refusal: string | undefined,
): void {
  if (refusal === undefined || definitions.length === 0) return;
  throw new PortcullisError('config', `agents cannot be added: ${refusal}`, {
    remedy: `Leave ${PLACE} out.`,
  });
}

function parsed(text: string): Result<Readonly<Record<string, unknown>>, string> {
  const json = parseJson(text);
  if (!json.ok) return err(`${PLACE} is not valid JSON: ${json.error}`);
  return isRecord(json.value) ? ok(json.value) : err(`${PLACE} must be {"name": {…}}`);
}

function readEntry(
  name: string,
  entry: unknown,
  knownTools: readonly string[],
): Result<{ definition: AgentDefinition; findings: readonly AgentFinding[] }, string> {
  if (!isRecord(entry)) return err('it is not an object');
  const { prompt, ...written } = entry;
  // Clients of hosts send null for unset fields.
  const said = Object.entries(written).filter(([, value]) => value !== null && value !== undefined);
  // The key overrides a name inside the object.
  const fields = { ...Object.fromEntries(said), name };
  const read = readFields(
    { fields, isExact: true, unclear: [], lineOf: () => undefined },
    { isFile: false, knownTools },
  );
  const errors = read.findings
    .filter(({ severity }) => severity === 'error')
    .map(({ message }) => message);
  const hasPrompt = typeof prompt === 'string' && prompt.trim() !== '';
  if (!hasPrompt) errors.push('it has no prompt');
  if (read.fields === undefined || !hasPrompt) return err(errors.join('; '));
  const definition: AgentDefinition = {
    ...read.fields,
    source: 'flag',
    contentHash: () => sha256(JSON.stringify([name, entry])),
    prompt: async () => prompt,
  };
  return ok({ definition, findings: read.findings });
}
