import { openIncludeApprovals } from '../../context/include-approvals.js';
import { projectPlace } from '../../context/instruction-places.js';
import { nodeFileSystem } from '../../env/node-fs.js';
import { expandHome, homeDirectory, isInside, resolve, stateDirectory } from '../../env/paths.js';
import { PortcullisError } from '../../errors.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { refuseAgent } from './person-only.js';

export interface AnswerWishes {
  readonly paths: readonly string[];
  /** The project that the answer is for. */
  readonly cwd: string;
  readonly usage: string;
}

/** Keeps a person's word on files from outside the project, for exactly these files and this project. */
export async function answerIncludes(
  answer: 'approve' | 'decline',
  { paths, cwd, usage }: AnswerWishes,
  output: Output,
): Promise<number> {
  if (paths.length === 0) {
    throw new PortcullisError('usage', `context ${answer} needs a file`, {
      remedy: `usage: ${usage}`,
    });
  }
  if (answer === 'approve') refuseAgent('context approve');
  const { env } = process;
  const home = homeDirectory(env);
  const { realRoot } = await projectPlace(nodeFileSystem, cwd, home);
  const files: string[] = [];
  for (const path of paths) {
    files.push(await fileAt(resolve(process.cwd(), expandHome(path, home)), { answer, realRoot }));
  }
  const place = { fs: nodeFileSystem, stateDirectory: stateDirectory(env) };
  const store = openIncludeApprovals(place);
  await store[answer](realRoot, files);
  for (const file of files) {
    // A state directory inside the project, or one that others may write, keeps nothing.
    const isKept = answer === 'decline' || (await store.approved(realRoot, file));
    if (!isKept) {
      throw new PortcullisError('config', `the approval of ${visible(file)} does not count`, {
        remedy: `${visible(place.stateDirectory)} must lie outside of the project and be yours alone`,
      });
    }
    const word = answer === 'approve' ? 'may show' : 'may not show';
    output.out(`${visible(realRoot)} ${word} ${visible(file)} to the model.\n`);
  }
  output.out('Sessions that are started from now on go by it.\n');
  return EXIT.done;
}

/** fail-closed: only a file that is there can be approved; where a link leads later nobody knows. */
async function fileAt(
  path: string,
  { answer, realRoot }: { answer: 'approve' | 'decline'; realRoot: string },
): Promise<string> {
  const stat = await nodeFileSystem.stat(path);
  if (stat === undefined && answer === 'decline') return path;
  if (stat?.kind !== 'file') {
    throw new PortcullisError('usage', `${visible(path)} is no file`, {
      remedy: 'name each file; folders cannot be approved',
    });
  }
  const real = await nodeFileSystem.realPath(path);
  if (answer === 'approve' && isInside(real, realRoot)) {
    throw new PortcullisError('usage', `${visible(path)} lies in the project`, {
      remedy: 'it needs no approval',
    });
  }
  return real;
}
