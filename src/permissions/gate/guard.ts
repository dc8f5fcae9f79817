import type { Restriction } from '../../protocol/permissions.js';
import type { Rendering } from '../shell/render/refusal.js';
import type { CallView } from './view.js';

/** What a guard holds against a call. */
export interface Finding {
  readonly decision: Restriction;
  readonly reason?: string;
  /** What the model is told instead, where the reason quotes what it must not be shown. */
  readonly reasonForModel?: string;
  /** What it went by: a rule with its file and line, a mode, a hook. */
  readonly source?: string;
  readonly blockedPath?: string;
  /** What a rule covers where the call does not name it, and how to leave that out. */
  readonly detail?: string;
  /** The rule it went by, as written, and the settings that hold it. */
  readonly rule?: { readonly text: string; readonly source: string };
  /** How the model is told when the call ends here. */
  readonly refusal?: RefusalKind;
  /** The question is the tool's own business, so that an answer settles it with whatever input it gives. */
  readonly settledByAnswer?: boolean;
  /** The turn ends with this call, and why. */
  readonly stop?: string;
  /** Among findings that hold back as much, this is the one that people must read. */
  readonly foremost?: true;
}

type RefusalKind = 'rule' | 'plan' | 'guard-failed' | 'approval' | 'hook' | 'shell-text';

/** Holds calls back. Its own failure is a verdict too, stated beforehand. */
export interface Guard {
  readonly name: string;
  readonly onFailure: 'deny' | 'ask';
  decide(view: CallView): Promise<Finding>;
}

/** The names of guards whose question is for a person: a script may say no to it, and nothing else. */
export const ASKS_PERSON = {
  criticalRemovals: 'critical removals',
  planMode: 'plan mode',
  protectedPaths: 'protected paths',
  sandbox: 'sandbox',
  settingsFiles: 'settings files',
  shellText: 'shell text',
} as const;

/** Lets calls through that no guard held back. One that fails lets nothing through. */
export interface Resolver {
  readonly name: string;
  decide(view: CallView): Promise<Approval | undefined>;
}

export interface Approval {
  readonly decision: 'allow' | 'pass';
  readonly reason: string;
  readonly source?: string;
  /** A person wrote this very text, so shell code runs as it is, not as its canonical form. */
  readonly verbatim?: true;
}

export const NOTHING: Finding = { decision: 'none' };

/** The canonical form of a call's shell code; undefined for tools that run none. */
async function renderingOf(view: CallView): Promise<Rendering | undefined> {
  if (view.call.subject.command === undefined) return undefined;
  const reading = await view.shell();
  if (reading?.rendering !== undefined) return reading.rendering;
  // fail-closed: what was not read has no form that is known to mean the same.
  const reason = reading?.opaque?.replace(/^it /, '') ?? 'was not read';
  return { ok: false, refusal: { code: 'syntax', reason } };
}

/** What holds a call whose shell code can only run as its text, which nothing but a person's answer allows. */
export async function unrendered(view: CallView): Promise<Finding | undefined> {
  const rendering = await renderingOf(view);
  if (rendering?.ok !== false) return undefined;
  const { code, reason } = rendering.refusal;
  return {
    decision: 'ask',
    refusal: 'shell-text',
    reason: `its text may mean something else to the shell than to the rules: it ${reason}`,
    source: `shell text: ${code}`,
  };
}

/** The text that a permit lets run: what was judged, or what a person was shown. */
export async function commandToRun(
  view: CallView,
  { verbatim }: { readonly verbatim: boolean },
): Promise<string | undefined> {
  if (verbatim) return view.call.subject.command;
  const rendering = await renderingOf(view);
  // fail-closed: the evaluation lets no such call come here.
  if (rendering?.ok === false) throw new Error(`the command has no canonical form`);
  return rendering?.text;
}
