import { visible } from '../../lib/text/visible.js';
import { displayPath } from '../../platform/fs/paths.js';
import type { Declaration, DeclarationKind, TrustCheck } from './types.js';

/** The notice about untrusted declarations; undefined when there are none. */
export function trustNotice(check: TrustCheck): string | undefined {
  const { verdict, root, declarations } = check;
  if (verdict === 'nothing' || verdict === 'trusted') return undefined;
  const counts = (['new', 'changed'] as const).flatMap((was) => {
    const count = check.pending.filter((one) => one.was === was).length;
    return count === 0 ? [] : [`${count} ${was}`];
  });
  const why =
    verdict === 'never'
      ? `${visible(root)} is not trusted`
      : `${visible(root)} has changed since it was trusted (${counts.join(', ')})`;
  const of = (isServer: boolean): string =>
    summary({
      declarations: declarations.filter(({ kind }) => (kind === 'MCP server') === isServer),
      root,
    });
  const [others, servers] = [of(false), of(true)];
  const held = [
    ...(others === '' ? [] : [`these of its files are not in force: ${others}`]),
    // Servers may have individual approvals, which are unknown here.
    ...(servers === ''
      ? []
      : [
          `only servers that a person has approved individually are used (portcullis mcp list): ${servers}`,
        ]),
  ];
  return `${why}, so ${held.join('; and ')}. \`portcullis trust\` shows and accepts them; --trust accepts them for one run`;
}

/** Formats as `2 hooks (PreToolUse, Stop; .claude/settings.json:4), 1 allow rule (…)`. */
export function summary(check: Pick<TrustCheck, 'declarations' | 'root'>): string {
  const kinds = [...new Set(check.declarations.map((declaration) => declaration.kind))];
  return kinds
    .map((kind) => {
      const those = check.declarations.filter((declaration) => declaration.kind === kind);
      const names = [...new Set(those.map((declaration) => declaration.name))];
      const shown = names.slice(0, MOST_NAMES).map(visible).join(', ');
      const more = names.length > MOST_NAMES ? ' …' : '';
      const first = those[0];
      const place = first === undefined ? '' : `; ${placeOf(first, check.root)}`;
      return `${those.length} ${those.length === 1 ? kind : (PLURAL[kind] ?? `${kind}s`)} (${shown}${more}${place})`;
    })
    .join(', ');
}

/** Every declaration with place and text, for review before acceptance. */
export function declarationLines(check: TrustCheck): readonly string[] {
  const pending = new Map(check.pending.map(({ declaration, was }) => [declaration, was]));
  return check.declarations.map((declaration) => {
    const was = check.verdict === 'changed' ? pending.get(declaration) : undefined;
    const mark = was === undefined ? ' ' : was === 'new' ? '+' : '~';
    return `${mark} ${declaration.kind}: ${visible(declaration.name)}\n      ${shown(declaration)}\n      ${placeOf(declaration, check.root)}`;
  });
}

const MOST_NAMES = 3;
const MOST_TEXT = 2_000;

const PLURAL: Readonly<Partial<Record<DeclarationKind, string>>> = {
  directory: 'directories',
  sandbox: 'sandbox settings',
  unreadable: 'unreadable parts',
};

function shown(declaration: Declaration): string {
  const text = visible(declaration.text);
  return text.length <= MOST_TEXT
    ? text
    : `${text.slice(0, MOST_TEXT)} … ${text.length - MOST_TEXT} MORE CHARACTERS, read them in the file`;
}

function placeOf({ file, line }: Declaration, root: string): string {
  return visible(`${displayPath(file, root)}${line === undefined ? '' : `:${line}`}`);
}
