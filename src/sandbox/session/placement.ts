import { type Approval, type Finding, NOTHING } from '../../permissions/gate/guard.js';
import type { CallView } from '../../permissions/gate/view.js';
import { fits } from '../../permissions/rules/match.js';
import { nameOf, type SimpleCommand } from '../../permissions/shell/model.js';
import { canonicalText } from '../../permissions/shell/runners/runners.js';
import type { SandboxSettings } from '../policy/settings.js';

/** The sandbox's state; `missing`: it is requested but unavailable, and settings accept that. */
export type FenceState =
  | { readonly kind: 'off' }
  | { readonly kind: 'up'; readonly driver: string }
  | { readonly kind: 'missing'; readonly why: string };

/** The sandbox's part in the permission gate, which decides where each command runs. */
export interface SandboxGate {
  /** Whether the call may run, and where. */
  decide(view: CallView): Promise<Finding>;
  /** Allows a command that runs inside, when settings say so. */
  approve(view: CallView): Promise<Approval | undefined>;
  /** Why this call runs outside; undefined when it does not. */
  outside(toolUseId: string, input: Readonly<Record<string, unknown>>): string | undefined;
}

interface Placed {
  readonly key: string;
  readonly why: string;
}

/** The limit for judged calls that have not run. */
const MOST_PLACED = 1000;

const LOST =
  'outside it can read and write whatever you can, keys and passwords among it, and reach the whole network';

export function createSandboxGate(deps: {
  settings(): SandboxSettings;
  state(): FenceState;
}): SandboxGate {
  const placed = new Map<string, Placed>();
  /** Only a call that was judged to run outside does so. */
  const remember = (view: CallView, why: string | undefined): void => {
    const { toolUseId, input } = view.call;
    placed.delete(toolUseId);
    if (why === undefined) return;
    const [oldest] = placed.keys();
    if (placed.size >= MOST_PLACED && oldest !== undefined) placed.delete(oldest);
    placed.set(toolUseId, { key: keyOf(input), why });
  };
  const decide = async (view: CallView): Promise<Finding> => {
    if (!runsCommands(view)) return NOTHING;
    const settings = deps.settings();
    const state = deps.state();
    if (state.kind === 'off') return NOTHING;
    if (state.kind === 'missing') return said(`runs without a sandbox: ${state.why}`);
    const excluded = await excludedBy(view, settings);
    if (excluded !== undefined) {
      const why = `runs outside the sandbox: sandbox.excludedCommands has ${excluded}`;
      remember(view, why);
      return said(why);
    }
    const leaves = view.call.input.dangerouslyDisableSandbox === true;
    remember(view, leaves && settings.mayLeave ? 'a person let it out' : undefined);
    if (!leaves) return said(`runs inside the sandbox (${state.driver})`);
    return settings.mayLeave ? asksToLeave(view) : mayNotLeave();
  };
  const approve = async (view: CallView): Promise<Approval | undefined> => {
    if (!runsCommands(view)) return undefined;
    const settings = deps.settings();
    if (!settings.autoAllow || deps.state().kind !== 'up') return undefined;
    // In plan mode nothing runs before the plan is approved.
    if (view.mode === 'plan') return undefined;
    // Only commands that actually run inside.
    if (view.call.input.dangerouslyDisableSandbox === true) return undefined;
    if ((await excludedBy(view, settings)) !== undefined) return undefined;
    const source = 'sandbox.autoAllowBashIfSandboxed';
    return { decision: 'allow', reason: 'it runs inside the sandbox', source };
  };
  return {
    decide,
    approve,
    outside(toolUseId, input) {
      const found = placed.get(toolUseId);
      placed.delete(toolUseId);
      // fail-closed: a changed input runs inside.
      return found?.key === keyOf(input) ? found.why : undefined;
    },
  };
}

function keyOf({ command, dangerouslyDisableSandbox }: Readonly<Record<string, unknown>>): string {
  return JSON.stringify([command, dangerouslyDisableSandbox === true]);
}

function runsCommands({ call }: CallView): boolean {
  return call.tool.kind === 'execute' && call.subject.command !== undefined;
}

/** A finding that only appears in the receipt. */
function said(reason: string): Finding {
  return { decision: 'none', reason };
}

function asksToLeave({ call }: CallView): Finding {
  return {
    decision: 'ask',
    reason: `${call.tool.name} asks to run this outside the sandbox: ${LOST}`,
    source: 'dangerouslyDisableSandbox',
    foremost: true,
  };
}

function mayNotLeave(): Finding {
  return {
    decision: 'deny',
    reason:
      'settings keep every command inside the sandbox (sandbox.allowUnsandboxedCommands is false); call it again without dangerouslyDisableSandbox',
    source: 'sandbox.allowUnsandboxedCommands',
  };
}

/** The `excludedCommands` entries that cover every part of the command; undefined keeps the whole command inside. */
async function excludedBy(
  view: CallView,
  { excluded }: SandboxSettings,
): Promise<string | undefined> {
  if (excluded.length === 0) return undefined;
  const reading = await view.shell();
  if (reading === undefined || reading.commands.length === 0) return undefined;
  if (reading.opaque !== undefined || reading.complex !== undefined) return undefined;
  const labels = new Set<string>();
  for (const command of reading.commands) {
    const text = isPlain(command) ? canonicalText(command.words) : undefined;
    const found = excluded.find(({ pattern }) => text !== undefined && fits(pattern, text));
    if (found === undefined) return undefined;
    labels.add(found.label);
  }
  return [...labels].join(', ');
}

/** A plain program with arguments: no other directory, variables, redirections or code. */
function isPlain(command: SimpleCommand): boolean {
  const name = nameOf(command.words);
  return (
    name !== undefined &&
    !/^(cd|pushd|popd|eval|exec|source|\.|command|builtin|env|export)$/.test(name) &&
    !command.grouped &&
    command.assignments.length === 0 &&
    command.redirections.length === 0 &&
    // A wildcard expands to file names, and a sandboxed program could have created one that is an option.
    command.words.every((word) => word.literal && word.pattern === undefined)
  );
}
