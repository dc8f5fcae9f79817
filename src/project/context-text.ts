import type { ContextReport } from '../app.js';
import { visible } from '../lib/text/visible.js';
import { displayPath } from '../platform/fs/paths.js';

type Instructions = ContextReport['instructions'];

/** What the model is shown, for people. */
export function contextText(report: ContextReport, cwd: string): string {
  const { model, window, tokens, share, counted, parts, tools } = report;
  const known = counted === undefined ? '' : `; ${count(counted)} by the provider's count`;
  return [
    `${visible(model)}: about ${count(tokens)} of ${count(window)} tokens (${percent(share)})${known}\n`,
    ...parts.map((part) => row(part.tokens, `${part.name}  ${percent(part.share)}`)),
    `\nTools (${tools.length})\n`,
    ...tools.map((tool) => row(tool.tokens, visible(tool.name))),
    ...instructionLines(report.instructions, cwd),
    ...(report.skillsListed === 0
      ? []
      : [`\nSkills: ${report.skillsListed} listed; portcullis skills list says which\n`]),
  ].join('');
}

function instructionLines(report: Instructions, cwd: string): readonly string[] {
  const { loaded, waiting, skipped, cut } = report;
  const name = (path: string): string => visible(displayPath(path, cwd));
  const shown = loaded.flatMap((file) => [
    row(file.tokens, `${name(file.path)}  (${whatIs(file)}; ${whyLoaded(file, name)})`),
    ...file.notes.map((note) => `          note: ${visible(note)}\n`),
  ]);
  const later = waiting.map((file) =>
    row(file.tokens, `${name(file.path)}  (${whatIs(file)}; ${whenLoaded(file, name)})`),
  );
  const left = skipped.map(({ path, reason, parent }) => {
    const by = parent === undefined ? '' : `, named in ${name(parent)}`;
    return `  ${name(path)}${by}: ${visible(reason)}\n`;
  });
  return [
    loaded.length === 0 ? '\nNo instruction files are shown.\n' : '\nInstructions, in this order\n',
    ...shown,
    ...(later.length === 0 ? [] : ['\nWaiting\n', ...later]),
    ...(cut ? ['  … the project has more folders than were looked at\n'] : []),
    ...(left.length === 0 ? [] : ['\nNot shown\n', ...left]),
  ];
}

function whatIs({ scope, kind }: { readonly scope: string; readonly kind: string }): string {
  if (kind === 'memory') return scope === 'team' ? 'notes of the team' : 'notes';
  return kind === 'setting' ? 'managed setting' : `${scope} ${kind}`;
}

function whyLoaded(
  { loadReason, parent, trigger, globs }: Instructions['loaded'][number],
  name: (path: string) => string,
): string {
  if (parent !== undefined) return `included by ${name(parent)}`;
  const by = trigger === undefined ? '' : ` by the use of ${name(trigger)}`;
  switch (loadReason) {
    case 'nested_traversal':
      return `came into play${by}`;
    case 'path_glob_match':
      return `${patterns(globs)} came into play${by}`;
    case 'compact':
      return 'from the start, shown again after a summary';
    default:
      return 'from the start';
  }
}

function whenLoaded(
  { globs, folder, parent }: Instructions['waiting'][number],
  name: (path: string) => string,
): string {
  if (parent !== undefined) return `included by ${name(parent)}`;
  const where = folder === undefined ? '' : ` in ${name(folder)}`;
  return globs === undefined
    ? `once a file${where} is used`
    : `once a file${where} is used that fits ${patterns(globs)}`;
}

function patterns(globs: readonly string[] = []): string {
  return globs.map(visible).join(', ');
}

function row(tokens: number | undefined, text: string): string {
  return `  ${(tokens === undefined ? '' : count(tokens)).padStart(7)}  ${text}\n`;
}

function count(tokens: number): string {
  return tokens.toLocaleString('en-US');
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
