import { PortcullisError } from '../../errors.js';
import { MAIN_AGENT } from '../../protocol/agent-ref.js';
import { createPolicyMaker } from '../../sandbox/policy.js';
import { sandboxSettings } from '../../sandbox/settings.js';
import type { SandboxAvailability, SandboxPolicy } from '../../sandbox/types.js';
import { originOf } from '../../util/sourced.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { readArguments } from './arguments.js';
import { sandboxHere } from './sandbox-here.js';

export const USAGE = 'portcullis sandbox status [--json]';

interface Status {
  readonly availability: SandboxAvailability;
  /** Where it is switched on; null: nowhere. */
  readonly enabledBy: string | null;
  readonly required: boolean;
  readonly problems: readonly string[];
  /** What a command of the main agent here may do. */
  readonly policy: Omit<SandboxPolicy, 'network'> & { readonly network: string };
}

/** Whether there is a sandbox, whether settings want it, and what it lets through here. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const { words, switches } = readArguments(argv, { usage: USAGE, switches: ['json'] });
  if (words.length > 0) {
    throw new PortcullisError('usage', `status takes no "${visible(words[0] ?? '')}"`, {
      remedy: `usage: ${USAGE}`,
    });
  }
  const status = await readStatus(output);
  output.out(switches.has('json') ? `${JSON.stringify(status, null, 2)}\n` : textOf(status));
  return status.availability.kind === 'available' ? EXIT.done : EXIT.error;
}

async function readStatus(output: Output): Promise<Status> {
  const { askedBy, parts, rules } = await sandboxHere(output);
  const settings = sandboxSettings(parts.settings.values, parts);
  const { bwrapPath, required, problems } = settings;
  const sandbox = await parts.open(bwrapPath === undefined ? {} : { bwrapPath });
  await sandbox.close();
  const policyFor = createPolicyMaker({ ...parts, settings: () => settings, rules });
  const policy = await policyFor({ agent: MAIN_AGENT, roots: parts.roots() });
  return {
    availability: sandbox.availability,
    enabledBy: askedBy === undefined ? null : originOf(askedBy),
    required,
    problems: problems.map(({ message }) => message),
    policy: { ...policy, network: policy.network.kind },
  };
}

function textOf({ availability, enabledBy, required, problems, policy }: Status): string {
  const lines = [...availabilityLines(availability)];
  lines.push(
    enabledBy === null
      ? 'settings: off. "sandbox": {"enabled": true} switches it on.'
      : `settings: on (${enabledBy})${required ? '' : ', and not needed: without one, programs run outside'}`,
  );
  for (const problem of problems) lines.push(`problem: ${visible(problem)}`);
  lines.push('', enabledBy === null ? 'With it, a command here could' : 'A command here can');
  lines.push(...listed('write', policy.writable));
  lines.push(...listed('but not change', policy.protected));
  lines.push(...listed('not read', policy.hidden));
  lines.push(`  network: ${NETWORK[policy.network] ?? policy.network}`);
  return `${lines.join('\n')}\n`;
}

const NETWORK: Readonly<Record<string, string>> = {
  none: 'none',
  filtered: 'allowed hosts only, through a proxy',
  open: 'the whole of it',
};

function availabilityLines(availability: SandboxAvailability): readonly string[] {
  if (availability.kind === 'unavailable') {
    return [
      `sandbox: none. ${visible(availability.missing)}`,
      `remedy: ${visible(availability.remedy)}`,
    ];
  }
  const { driver, version, notes } = availability;
  return [`sandbox: ${driver} ${version}`, ...notes.map((note) => `note: ${note}`)];
}

const MOST_SHOWN = 8;

function listed(what: string, paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const more = paths.length - MOST_SHOWN;
  return [
    `  ${what}:`,
    ...paths.slice(0, MOST_SHOWN).map((path) => `    ${visible(path)}`),
    ...(more > 0 ? [`    and ${more} more (--json)`] : []),
  ];
}
