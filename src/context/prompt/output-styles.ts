import { messageOf, systemCodeOf } from '../../errors.js';
import { booleanOf, textOf } from '../../lib/frontmatter/fields.js';
import { loadFrontmatter } from '../../lib/frontmatter/frontmatter.js';
import { nearest } from '../../lib/text/nearest.js';
import type { FileSystem } from '../../platform/fs/fs.js';
import { basename, isInside, join } from '../../platform/fs/paths.js';
import explanatory from '../output-styles/explanatory.md';
import learning from '../output-styles/learning.md';

/** How the model is to answer: a text that takes the place of our own words about that. */
export interface OutputStyle {
  readonly name: string;
  readonly prompt: string;
  /** The default instructions for coding stay, and the style is added to them. */
  readonly keepsCodingInstructions: boolean;
}

export const DEFAULT_STYLE = 'default';

const BUILT_IN: readonly OutputStyle[] = [
  { name: 'Explanatory', prompt: explanatory.trim(), keepsCodingInstructions: true },
  { name: 'Learning', prompt: learning.trim(), keepsCodingInstructions: true },
];

export interface OutputStyleDeps {
  readonly fs: Pick<FileSystem, 'list' | 'readText' | 'realPath'>;
  /** The first that has a style of a name wins. */
  readonly folders: readonly StyleFolder[];
}

/** A folder of styles. */
export interface StyleFolder {
  readonly path: string;
  /** Its files must lie in here, behind all links. */
  readonly root: string;
  /** The built-in styles go before those of this folder. */
  readonly yields: boolean;
}

export interface OutputStyles {
  readonly styles: readonly OutputStyle[];
  /** Files that are no style, each with the reason. */
  readonly problems: readonly string[];
}

/** Every style there is, each name once. */
export async function loadOutputStyles(deps: OutputStyleDeps): Promise<OutputStyles> {
  const styles = new Map<string, OutputStyle>();
  const problems: string[] = [];
  const add = (style: OutputStyle): void => {
    const key = style.name.toLowerCase();
    if (!styles.has(key)) styles.set(key, style);
  };
  for (const folder of deps.folders) {
    if (folder.yields) BUILT_IN.forEach(add);
    for (const file of await styleFiles(deps, folder, problems)) {
      try {
        add(await readStyle(deps, folder, file));
      } catch (thrown) {
        problems.push(`the output style ${file} cannot be used: ${messageOf(thrown)}`);
      }
    }
  }
  BUILT_IN.forEach(add);
  return { styles: [...styles.values()], problems };
}

/** The style of that name, or a sentence that says which there are. */
export function findStyle(
  name: string,
  { styles }: Pick<OutputStyles, 'styles'>,
): { readonly style: OutputStyle | undefined; readonly problem?: string } {
  if (name.toLowerCase() === DEFAULT_STYLE) return { style: undefined };
  const style = styles.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (style !== undefined) return { style };
  const names = [DEFAULT_STYLE, ...styles.map((one) => one.name)];
  const close = nearest(name, names);
  const hint = close === undefined ? `There are ${names.join(', ')}.` : `Did you mean "${close}"?`;
  return {
    style: undefined,
    problem: `outputStyle: there is no output style "${name}"; the default is used. ${hint}`,
  };
}

async function styleFiles(
  { fs }: OutputStyleDeps,
  { path }: StyleFolder,
  problems: string[],
): Promise<readonly string[]> {
  try {
    const names = (await fs.list(path)).map(({ name }) => name);
    return names
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => join(path, name));
  } catch (thrown) {
    // Most directories have no such folder.
    if (systemCodeOf(thrown) !== 'ENOENT') {
      problems.push(`the output styles in ${path} cannot be listed: ${messageOf(thrown)}`);
    }
    return [];
  }
}

const MOST_BYTES = 64 * 1024;

async function readStyle(
  { fs }: OutputStyleDeps,
  { root }: StyleFolder,
  file: string,
): Promise<OutputStyle> {
  const real = await fs.realPath(file);
  // fail-closed: a link must not send a file from elsewhere to the model.
  if (!isInside(real, await fs.realPath(root))) throw new Error(`it is a link to ${real}`);
  const text = await fs.readText(file, { maxBytes: MOST_BYTES });
  const { fields, body } = await loadFrontmatter(text);
  const named = textOf(fields.name)?.trim() ?? '';
  if (body.trim() === '') throw new Error('it has no text');
  return {
    name: named === '' ? basename(file, '.md') : named,
    prompt: body.trim(),
    keepsCodingInstructions: booleanOf(fields['keep-coding-instructions']) === true,
  };
}
