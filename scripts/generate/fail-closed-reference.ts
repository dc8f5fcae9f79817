import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedPage, table } from './markdown.js';

/** Two levels up, both from this file and from where its bundle is put. */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * docs/reference/fail-closed.md: every place in the source where doubt becomes no. Without line
 * numbers, which would change with every edit above them.
 */
export function failClosedReference(): Record<string, string> {
  const rows = sourceFiles(path.join(ROOT, 'src')).flatMap((file) =>
    marksIn(readFileSync(file, 'utf8')).map((mark) => [
      `[${path.relative(path.join(ROOT, 'src'), file).split(path.sep).join('/')}](../../${path.relative(ROOT, file).split(path.sep).join('/')})`,
      mark,
    ]),
  );
  return {
    'docs/reference/fail-closed.md': generatedPage(
      'Fail-closed places',
      'the `fail-closed:` comments in `src`',
      [
        'What the mark means is told in [fail-closed.md](../fail-closed.md).',
        `${rows.length} places.`,
        table(['file', 'what doubt means there'], rows),
      ],
    ),
  };
}

/** The text of each mark, its further comment lines included. */
export function marksIn(source: string): readonly string[] {
  const lines = source.split('\n');
  return lines.flatMap((line, index) => {
    const start = /^\s*(\/\/|\/\*\*|\*).*?fail-closed:\s*(.*)$/.exec(line);
    if (start === null) return [];
    const words = [start[2] ?? ''];
    for (const next of lines.slice(index + 1)) {
      if ((words.at(-1) ?? '').includes('*/')) break;
      const more = /^\s*(?:\/\/|\*)(?!\/)\s?(.*)$/.exec(next);
      if (more === null) break;
      words.push(more[1] ?? '');
    }
    return [words.join(' ').replace('*/', '').trim()];
  });
}

function sourceFiles(directory: string): readonly string[] {
  const entries = readdirSync(directory, { withFileTypes: true });
  return entries
    .flatMap((entry) => {
      const full = path.join(directory, entry.name);
      if (entry.isDirectory()) return sourceFiles(full);
      return /(?<!\.test)\.ts$/.test(entry.name) ? [full] : [];
    })
    .sort();
}
