import type { InstructionFile } from '../agents/host-requests.js';
import { projectPlace } from '../context/instruction-places.js';
import { homeDirectory, join } from '../env/paths.js';
import { messageOf, PortcullisError } from '../errors.js';
import type { Ground } from './ground.js';
import type { OpenInstructions } from './instructions.js';
import type { SessionEvents } from './session-events.js';

export interface InstructionNoteParts {
  readonly instructions: Pick<OpenInstructions, 'book'>;
  readonly events: Pick<SessionEvents, 'remind'>;
}

const MOST_BYTES = 4 * 1024 * 1024;

/** The instruction files that a person's note can go to: of the project, of this copy of it, of the user. */
export async function instructionFiles(
  { fs, configDir, sources, env }: Pick<Ground, 'fs' | 'configDir' | 'sources' | 'env'>,
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
  ground: Pick<Ground, 'fs'>,
  { instructions, events }: InstructionNoteParts,
  { file, text }: { readonly file: InstructionFile; readonly text: string },
): Promise<void> {
  const { fs } = ground;
  const { path, isNew } = file;
  // fail-closed: a link that was put there since the path was shown is not followed.
  if ((await fs.realPath(path)) !== path) {
    throw new PortcullisError('io', `${path} is another file by now; nothing was saved`);
  }
  const note = `- ${text}\n`;
  try {
    const before = isNew ? '' : await fs.readText(path, { maxBytes: MOST_BYTES });
    const gap = before === '' || before.endsWith('\n') ? '' : '\n';
    await fs.writeAtomic(path, `${before}${gap}${note}`, { mode: 0o644 });
  } catch (thrown) {
    throw new PortcullisError('io', `${path} could not be written: ${messageOf(thrown)}`);
  }
  const { files } = await instructions.book.open();
  const shown = await Promise.all(files.map((one) => fs.realPath(one.path)));
  // A file that is shown already is compared with the disk at the next turn.
  if (!shown.includes(path))
    events.remind(`The user has added to the instructions in ${path}:\n${note}`);
}
