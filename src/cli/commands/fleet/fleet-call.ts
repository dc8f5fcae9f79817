import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { messageOf, PortcullisError } from '../../../errors.js';
import { orderOf } from '../../../fleet/order.js';
import type { Fleet, FleetSession, SessionOrder } from '../../../fleet/types.js';
import { parseJson } from '../../../lib/json.js';
import { isRecord } from '../../../lib/own.js';
import { visible } from '../../../lib/text/visible.js';
import type { CommandCall, OptionSpec } from '../../command.js';
import { listOption, numberOption, textOption } from '../project-call.js';

export const ORDER_OPTIONS: readonly OptionSpec[] = [
  { flags: '--repo <address>', description: 'The git repository to work in.' },
  { flags: '--base <commit>', description: 'The branch, tag or commit to start from.' },
  { flags: '--tenant <name>', description: 'Whose limits hold (default: default).' },
  { flags: '--title <text>', description: 'A title for lists.' },
  { flags: '--label <label...>', description: 'A label that the worker must have.' },
  { flags: '--priority <number>', description: 'Larger numbers first (default: 0).' },
  { flags: '--budget <dollars>', description: 'What the session may cost.' },
  { flags: '--model <name>', description: 'The model.' },
  { flags: '--permission-mode <mode>', description: 'default, acceptEdits, plan, dontAsk.' },
  { flags: '--allowedTools <rule...>', description: 'An allow rule, such as "Bash(npm test)".' },
  { flags: '--disallowedTools <rule...>', description: 'A deny rule.' },
  { flags: '--policy <file>', description: 'Session options as JSON: rules, settings, limits.' },
  { flags: '--idempotent <call...>', description: 'A tool that may run twice with one key.' },
  { flags: '--pin-policy', description: 'Refuse workers whose rules differ from the first.' },
  { flags: '--ask-hours <hours>', description: 'How long questions stay open (default: 168).' },
  { flags: '--trust', description: "Let the repository's own settings grant and run things." },
];

/** Opens the fleet of this environment for one command. */
export async function withFleet(use: (fleet: Fleet) => Promise<number>): Promise<number> {
  const { openFleet } = await import('../../../fleet/open.js');
  const fleet = await openFleet(process.env);
  try {
    return await use(fleet);
  } finally {
    await fleet.close();
  }
}

export function orderFrom({ options }: CommandCall): Omit<SessionOrder, 'id' | 'submittedAt'> {
  const policy = readPolicy(textOption(options, 'policy'));
  const lists = {
    allowedTools: listOption(options, 'allowedTools'),
    disallowedTools: listOption(options, 'disallowedTools'),
  };
  const given = {
    model: textOption(options, 'model'),
    permissionMode: textOption(options, 'permissionMode'),
    trustProject: options.trust === true ? true : undefined,
    ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0)),
  };
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  const {
    id: _id,
    submittedAt: _at,
    ...order
  } = orderOf({
    tenant: textOption(options, 'tenant') ?? 'default',
    title: textOption(options, 'title'),
    repository: textOption(options, 'repo'),
    base: textOption(options, 'base'),
    labels: listOption(options, 'label'),
    priority: numberOption(options, 'priority', { min: -1_000, max: 1_000, whole: true }) ?? 0,
    budgetUsd: numberOption(options, 'budget', { min: 0, max: 1_000_000 }),
    options: { ...policy, ...Object.fromEntries(set) },
    idempotent: listOption(options, 'idempotent'),
    pinPolicy: options.pinPolicy === true,
    askHours: numberOption(options, 'askHours', { min: 0.001, max: 8_760 }) ?? 168,
  });
  return order;
}

function readPolicy(file: string | undefined): Readonly<Record<string, unknown>> {
  if (file === undefined) return {};
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    throw new PortcullisError(
      'usage',
      `--policy: "${visible(file)}" cannot be read: ${messageOf(thrown)}`,
    );
  }
  const parsed = parseJson(text);
  if (parsed.ok && isRecord(parsed.value)) return parsed.value;
  throw new PortcullisError(
    'usage',
    `--policy: "${visible(file)}" is not a JSON object of session options`,
  );
}

export function person(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without a name.
    return 'unknown';
  }
}

/** A session by its id or the beginning of it. */
export async function findSession(fleet: Fleet, name: string): Promise<FleetSession> {
  if (!/^[\w-]{4,64}$/.test(name)) {
    throw new PortcullisError('usage', `"${visible(name)}" is no session id`, {
      remedy: 'portcullis fleet list shows them',
    });
  }
  const exact = await fleet.show(name);
  if (exact !== undefined) return exact;
  const found = (await fleet.list({ limit: 100_000 })).filter(({ order }) =>
    order.id.startsWith(name),
  );
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  const problem =
    only === undefined
      ? `there is no session ${name}`
      : `${found.length} sessions begin with ${name}`;
  throw new PortcullisError('session', problem, { remedy: 'portcullis fleet list shows them' });
}
