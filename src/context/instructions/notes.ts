import type { SessionEnvironment } from '../../config/session-environment.js';
import { messageOf, PortcullisError } from '../../errors.js';
import { homeDirectory, join } from '../../platform/fs/paths.js';
import { isRunByAgent } from '../../platform/process/run-by-agent.js';
import type { InstructionBook } from './book.js';
import { projectPlace } from './places.js';

/** An instruction file that a person's note can go to. */
export interface InstructionFile {
  readonly scope: 'project' | 'local' | 'user';
  /** With every link resolved. */
  readonly path: string;
  /** It does not exist yet. */
  readonly isNew: boolean;
}

const MOST_BYTES = 4 * 1024 * 1024;
const LINE_FEED = 10;

/** The instruction files that a person's note can go to: of the project, of this copy of it, of the user. */
export async function instructionFiles(
  { fs, configDir, sources, env }: Pick<SessionEnvironment, 'fs' | 'configDir' | 'sources' | 'env'>,
  cwd: string,
): Promise<readonly InstructionFile[]> {
  const { root } = await projectPlace(fs, cwd, homeDirectory(env));
  const exists = async (path: string): Promise<boolean> => (await fs.stat(path))?.kind === 'file';
  const firstOf = async (paths: readonly string[]): Promise<string | undefined> => {
    for (const path of paths) if (await exists(path)) return path;
    return undefined;
  };
  const directories = [...new Set([cwd, root])];
  const claude = await firstOf(
    directories.flatMap((one) => [join(one, 'CLAUDE.md'), join(one, '.claude', 'CLAUDE.md')]),
  );
  const agents = await firstOf(directories.map((one) => join(one, 'AGENTS.md')));
  const files: readonly Omit<InstructionFile, 'isNew'>[] = [
    { scope: 'project', path: claude ?? agents ?? join(root, 'CLAUDE.md') },
    // A first CLAUDE.local.md beside AGENTS.md would take AGENTS.md out of force.
    ...(claude === undefined && agents !== undefined
      ? []
      : [{ scope: 'local' as const, path: join(root, 'CLAUDE.local.md') }]),
    { scope: 'user', path: join(configDir, 'CLAUDE.md') },
  ];
  const found = files
    .filter(({ scope }) => sources.includes(scope))
    // A link is shown as what it leads to: that file is written.
    .map(async ({ scope, path }) => ({
      scope,
      path: await fs.realPath(path),
      isNew: !(await exists(path)),
    }));
  return await Promise.all(found);
}

/** Adds a note to one of these files; the model reads it with the next prompt. */
export async function addInstruction(
  { fs, env }: Pick<SessionEnvironment, 'fs' | 'env'>,
  { book, remind }: { readonly book: Pick<InstructionBook, 'open'>; remind(text: string): void },
  { file, text }: { readonly file: InstructionFile; readonly text: string },
): Promise<void> {
  const { path } = file;
  // fail-closed: an agent must not write the instructions that it is held to.
  if (isRunByAgent(env)) {
    throw new PortcullisError('usage', 'only a person adds notes, and an agent runs this program');
  }
  // fail-closed: a link of the project may lead to a file that programs read.
  if (!path.toLowerCase().endsWith('.md')) {
    throw new PortcullisError('io', `a link leads to ${path}, which is not Markdown`, {
      remedy: 'replace the link by a file, or choose another file',
    });
  }
  // fail-closed: a link that was put there since the path was shown is not followed.
  if ((await fs.realPath(path)) !== path) {
    throw new PortcullisError('io', `${path} is another file by now; nothing was saved`);
  }
  const note = `- ${text}\n`;
  try {
    const isThere = (await fs.lstat(path)) !== undefined;
    // As bytes: a file in another encoding keeps its own.
    const before = isThere ? await fs.readBytes(path, { maxBytes: MOST_BYTES }) : new Uint8Array();
    const gap = before.length === 0 || before.at(-1) === LINE_FEED ? '' : '\n';
    const added = new TextEncoder().encode(`${gap}${note}`);
    await fs.writeAtomic(path, Buffer.concat([before, added]), { mode: 0o644 });
  } catch (thrown) {
    throw new PortcullisError('io', `${path} could not be written: ${messageOf(thrown)}`);
  }
  const { files } = await book.open();
  const shown = await Promise.all(files.map((one) => fs.realPath(one.path)));
  // A file that is shown already is compared with the disk at the next turn.
  if (!shown.includes(path)) remind(`The user has added to the instructions in ${path}:\n${note}`);
}
