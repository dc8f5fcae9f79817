import type { ParseYaml } from '../util/frontmatter.js';

/** YAML as data and nothing else: no aliases, no tags, no merge keys, no key twice. */
export const parseYaml: ParseYaml = async (text) => {
  // Most heads are simple and never need it.
  const { parseDocument } = await import('./yaml-library.js');
  const document = parseDocument(text, { schema: 'core', merge: false, uniqueKeys: true });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined) throw problem;
  return document.toJS({ maxAliasCount: 0 }) as unknown;
};
