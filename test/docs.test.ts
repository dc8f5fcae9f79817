import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../src/cli/exit-code.js';
import { FLAGS } from '../src/cli/flags.js';
import { makeTempProject } from '../src/testing/temp-project.js';

const ROOT = path.resolve(import.meta.dirname, '..');
const read = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');

const pages = ['README.md', 'AGENTS.md', 'CLAUDE.md', 'CHANGELOG.md', ...markdownIn('docs')];

describe('the documentation', () => {
  it('keeps the README and the guide short', () => {
    expect(lineCount('README.md')).toBeLessThanOrEqual(120);
    expect(lineCount('AGENTS.md')).toBeLessThanOrEqual(150);
  });

  it('names the two commands in the README', () => {
    expect(read('README.md')).toMatch(/^npm start\b/m);
    expect(read('README.md')).toMatch(/^npm test\b/m);
  });

  it('has no link that leads nowhere', () => {
    const broken = pages.flatMap((page) =>
      linksIn(read(page))
        .filter((link) => !resolves(page, link))
        .map((link) => `${page} → ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('is all reachable from the README', () => {
    const seen = new Set<string>();
    const visit = (page: string): void => {
      if (seen.has(page)) return;
      seen.add(page);
      for (const link of linksIn(read(page))) {
        const target = path.posix.join(path.posix.dirname(page), link.replace(/#.*$/, ''));
        if (target.endsWith('.md') && existsSync(path.join(ROOT, target))) visit(target);
      }
    };
    visit('README.md');
    expect(pages.filter((page) => page.startsWith('docs/') && !seen.has(page))).toEqual([]);
  });

  it('lists every flag in the reference', () => {
    const reference = read('docs/reference/cli.md');
    const names = FLAGS.flatMap((flag) => [flag.name, ...(flag.aliases ?? [])]);
    expect(names.filter((name) => !reference.includes(`\`--${name}\``))).toEqual([]);
  });

  it('says when each exit code happens', () => {
    const page = read('docs/headless.md');
    const codes = Object.values(EXIT);
    expect(codes.filter((code) => !page.includes(`\n| ${code} | `))).toEqual([]);
    expect(codes.filter((code) => !new RegExp(`\\b${code} [a-z]`).test(read('README.md')))).toEqual(
      [],
    );
  });

  it('has a row for every pinned difference', () => {
    const ids = Object.keys(JSON.parse(read('docs/differences.json')));
    const page = read('docs/differences.md');
    expect(ids.filter((id) => !page.includes(`\n| \`${id}\` |`))).toEqual([]);
  });

  it('gives a reason for every runtime dependency', () => {
    const records = markdownIn('docs/decisions').map(read).join('\n');
    const { dependencies } = JSON.parse(read('package.json'));
    expect(Object.keys(dependencies).filter((name) => !records.includes(`\`${name}\``))).toEqual(
      [],
    );
  });

  it('places every folder of the source in the architecture', () => {
    const page = read('docs/architecture.md');
    const folders = readdirSync(path.join(ROOT, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `\`${entry.name}/\``);
    expect(folders.filter((folder) => !page.includes(folder))).toEqual([]);
  });

  it('speaks of no machine', () => {
    const wrong = pages.filter((page) => /\/(?:home|Users|root|work)\/\w/.test(read(page)));
    expect(wrong).toEqual([]);
  });
});

describe('the examples', () => {
  const directory = path.join(ROOT, 'node_modules', '.cache', `docs-${process.pid}`);
  const examples = pages.flatMap((page) =>
    [...read(page).matchAll(/^```ts\n([\s\S]*?)^```/gm)].map((match, index) => ({
      name: `${page.replace(/\W/g, '-')}-${index}`,
      code: match[1] ?? '',
    })),
  );
  const file = (name: string): string => path.join(directory, `${name}.ts`);

  beforeAll(() => {
    mkdirSync(directory, { recursive: true });
    for (const { name, code } of examples) writeFileSync(file(name), code);
    const settings = {
      extends: path.join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        rootDir: ROOT,
        types: ['node'],
        paths: {
          portcullis: [path.join(ROOT, 'src/index.ts')],
          'portcullis/testing': [path.join(ROOT, 'src/testing/index.ts')],
        },
      },
      include: ['*.ts', path.join(ROOT, 'src/markdown.d.ts')],
    };
    writeFileSync(path.join(directory, 'tsconfig.json'), JSON.stringify(settings));
    writeFileSync(path.join(directory, 'package.json'), '{ "type": "module" }');
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('stand in the README', () => {
    expect(examples.map(({ name }) => name)).toContain('README-md-0');
  });

  it('have the right types', () => {
    const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
    const checked = spawnSync(process.execPath, [tsc, '-p', directory], { encoding: 'utf8' });
    expect(checked.stdout).toBe('');
    expect(checked.status).toBe(0);
  });

  it('of the README runs, against the scripted model', async () => {
    const outfile = path.join(directory, 'readme.mjs');
    await build({
      entryPoints: [file('README-md-0')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      alias: { portcullis: path.join(ROOT, 'src/index.ts') },
      loader: { '.md': 'text' },
      logLevel: 'warning',
    });
    const script = [{ tool: 'Bash', input: { command: 'ls' } }, 'Because it must.'];
    const project = makeTempProject({ files: { 'script.json': script } });
    try {
      const stdout = execFileSync(process.execPath, [outfile], {
        cwd: project.directory,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        env: {
          PATH: process.env.PATH,
          HOME: project.home,
          PORTCULLIS_SCRIPT: project.at('script.json'),
        },
      });
      expect(stdout).toBe('Because it must.\n');
    } finally {
      project.remove();
    }
  });
});

function markdownIn(directory: string): string[] {
  return readdirSync(path.join(ROOT, directory), { withFileTypes: true }).flatMap((entry) => {
    const name = `${directory}/${entry.name}`;
    if (entry.isDirectory()) return markdownIn(name);
    return entry.name.endsWith('.md') ? [name] : [];
  });
}

function lineCount(name: string): number {
  return read(name).trimEnd().split('\n').length;
}

/** Links to files of ours; addresses are left out, and so is what stands in code. */
function linksIn(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] ?? '')
    .filter((link) => !/^[a-z]+:/.test(link));
}

function resolves(page: string, link: string): boolean {
  const [name = '', anchor] = link.split('#');
  const target = name === '' ? page : path.posix.join(path.posix.dirname(page), name);
  if (!existsSync(path.join(ROOT, target))) return false;
  if (anchor === undefined) return true;
  const headings = [...read(target).matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
  return headings.includes(anchor);
}
