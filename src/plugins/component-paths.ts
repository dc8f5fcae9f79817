import { messageOf } from '../errors.js';
import { visible } from '../lib/visible.js';
import type { FileStat } from '../platform/fs/fs.js';
import { isInside, join, toPosix } from '../platform/fs/paths.js';
import type { ConfigProblem } from '../settings/types.js';
import type { ComponentField, Manifest, PluginFiles } from './manifest.js';

export interface ComponentPaths {
  /** Undefined: the manifest does not say. Otherwise behind all links, in the order of the manifest. */
  readonly paths: readonly string[] | undefined;
  readonly problems: readonly ConfigProblem[];
}

/** Which files and directories of the plugin a field of its manifest names. */
export async function componentPaths(
  field: ComponentField,
  plugin: { readonly directory: string; readonly manifest: Manifest; readonly fs: PluginFiles },
): Promise<ComponentPaths> {
  const { manifest } = plugin;
  const said = manifest.field(field);
  if (said === undefined) return { paths: undefined, problems: [] };
  const written = (Array.isArray(said) ? said : [said]).filter((one) => typeof one === 'string');
  const paths: string[] = [];
  const problems: ConfigProblem[] = [];
  for (const one of written) {
    const found = await pathInside(one, plugin);
    const why = found.ok ? wrongKind(field, found) : found.why;
    if (found.ok && why === undefined) paths.push(found.path);
    else {
      const line = manifest.lineOf(field);
      // fail-closed: what is named and not there may be a guard.
      problems.push({
        severity: 'fatal',
        file: manifest.file,
        line,
        message: `\`${field}\`: ${why}.`,
        remedy: 'Name what is inside of the plugin, beginning with "./".',
      });
    }
  }
  return { paths, problems };
}

type Found =
  | { readonly ok: true; readonly path: string; readonly kind: FileStat['kind'] }
  | { readonly ok: false; readonly why: string };

/** What of this kind would bring nothing; undefined: it may bring something. */
function wrongKind(
  field: ComponentField,
  { path, kind }: Extract<Found, { ok: true }>,
): string | undefined {
  const shown = visible(path);
  const isMarkdown = path.toLowerCase().endsWith('.md');
  switch (field) {
    case 'skills':
      return kind === 'directory' ? undefined : `${shown} is no directory`;
    case 'commands':
    case 'agents':
      if (kind === 'directory') return isMarkdown ? `${shown} is called like a file` : undefined;
      return kind === 'file' && isMarkdown ? undefined : `${shown} is no directory and no Markdown`;
    case 'hooks':
    case 'mcpServers':
      return kind === 'file' ? undefined : `${shown} is no file`;
  }
}

/** What a path of a plugin's own leads to, behind all links. */
export async function pathInside(
  written: string,
  { directory, fs }: { readonly directory: string; readonly fs: PluginFiles },
): Promise<Found> {
  const shown = visible(written);
  const steps = toPosix(written).split('/');
  if (steps[0] !== '.' || steps.includes('..')) {
    return { ok: false, why: `"${shown}" is no path inside of the plugin` };
  }
  const path = join(directory, written);
  try {
    const stat = await fs.stat(path);
    if (stat === undefined) return { ok: false, why: `"${shown}" is not there` };
    const real = await fs.realPath(path);
    // fail-closed: a link out of the plugin would bring in what nobody has looked at.
    if (!isInside(real, directory)) {
      return { ok: false, why: `"${shown}" leads out of the plugin to ${visible(real)}` };
    }
    return { ok: true, path: real, kind: stat.kind };
  } catch (thrown) {
    return { ok: false, why: `"${shown}" cannot be looked at: ${messageOf(thrown)}` };
  }
}
