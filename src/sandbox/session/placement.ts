import {
  type Approval,
  ASKS_PERSON,
  type Finding,
  type Guard,
  NOTHING,
  type Resolver,
} from '../../permissions/gate/guard.js';
import type { CallView } from '../../permissions/gate/view.js';
import { fits } from '../../permissions/rules/match.js';
import { nameOf, type SimpleCommand } from '../../permissions/shell/model.js';
import { canonicalText } from '../../permissions/shell/runners/runners.js';
import type { SandboxSettings } from '../policy/settings.js';

/** Whether there is a fence now; `missing`: it is wanted, there is none, and settings let that pass. */
export type FenceState =
  | { readonly kind: 'off' }
  | { readonly kind: 'up'; readonly driver: string }
  | { readonly kind: 'missing'; readonly why: string };

/** What the sandbox says at the gate, and where each command runs. */
export interface SandboxGate {
  readonly guard: Guard;
  readonly resolver: Resolver;
  /** Why this very call runs outside; undefined: it does not. */
  outside(toolUseId: string, input: Readonly<Record<string, unknown>>): string | undefined;
}

interface Placed {
  readonly key: string;
  readonly why: string;
}

/** Calls that were judged and have not run yet. */
const MOST_PLACED = 1000;

const LOST =
  'outside it can read and write whatever you can, keys and passwords among it, and reach the whole network';

export function createSandboxGate(deps: {
  settings(): SandboxSettings;
  state(): FenceState;
}): SandboxGate {
  const placed = new Map<string, Placed>();
  /** Only a call that was judged to run outside does; all others run inside. */
  const remember = (view: CallView, why: string | undefined): void => {
    const { toolUseId, input } = view.call;
    placed.delete(toolUseId);
    if (why === undefined) return;
    const [oldest] = placed.keys();
    if (placed.size >= MOST_PLACED && oldest !== undefined) placed.delete(oldest);
    placed.set(toolUseId, { key: keyOf(input), why });
  };
  const decideCommand = async (view: CallView): Promise<Finding> => {
    const settings = deps.settings();
    const state = deps.state();
    if (state.kind === 'off') return NOTHING;
    if (state.kind === 'missing') {
      return said(`runs without a sandbox: ${state.why}`);
    }
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
  const guard: Guard = {
    name: ASKS_PERSON.sandbox,
    // fail-closed: where it runs must be known before it runs.
    onFailure: 'deny',
    decide: async (view) => (runsCommands(view) ? decideCommand(view) : NOTHING),
  };
  const openCommand = async (view: CallView): Promise<Approval | undefined> => {
    const settings = deps.settings();
    if (!settings.autoAllow || deps.state().kind !== 'up') return undefined;
    // A plan is looked at before anything is done, inside or not.
    if (view.mode === 'plan') return undefined;
    // Only what will really run inside.
    if (view.call.input.dangerouslyDisableSandbox === true) return undefined;
    if ((await excludedBy(view, settings)) !== undefined) return undefined;
    const source = 'sandbox.autoAllowBashIfSandboxed';
    return { decision: 'allow', reason: 'it runs inside the sandbox', source };
  };
  const resolver: Resolver = {
    name: ASKS_PERSON.sandbox,
    decide: async (view) => (runsCommands(view) ? openCommand(view) : undefined),
  };
  return {
    guard,
    resolver,
    outside(toolUseId, input) {
      const found = placed.get(toolUseId);
      placed.delete(toolUseId);
      // fail-closed: another input than the one that was judged runs inside.
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

/** For the receipt alone. */
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

/** The entry of `excludedCommands` that lets all of it out; undefined: a part of it stays inside, and so does the whole. */
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

/** A program with its arguments and nothing else: no other directory, variable, file or code. */
function isPlain(command: SimpleCommand): boolean {
  const name = nameOf(command.words);
  return (
    name !== undefined &&
    !/^(cd|pushd|popd|eval|exec|source|\.|command|builtin|env|export)$/.test(name) &&
    !command.grouped &&
    command.assignments.length === 0 &&
    command.redirections.length === 0 &&
    // A pattern becomes names of files, and whoever runs inside could have made one that is an option.
    command.words.every((word) => word.literal && word.pattern === undefined)
  );
}
