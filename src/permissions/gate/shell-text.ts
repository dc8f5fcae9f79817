import type { Rendering } from '../shell/render/refusal.js';
import type { Finding } from './guard.js';
import type { CallView } from './view.js';

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
