import { resolve, toPosix } from '../env/paths.js';

const OF_PROCESS = /^\/proc\/[^/]+\/(task\/[^/]+\/)?(cwd|root|fd\/[^/]+)$|^\/dev\/fd\/[^/]+$/;

/** Whether a path goes on behind a link that is another one for every process. */
export function throughProcess(from: readonly string[] | undefined, path: string): boolean {
  return (path.startsWith('/') ? ['/'] : (from ?? [])).some((directory) => {
    let at = directory;
    return ['', ...path.split('/')].some((part, index, parts) => {
      at = resolve(at, part);
      const isFile = /\/fd\/[^/]+$/.test(at) && index === parts.length - 1;
      return OF_PROCESS.test(toPosix(at)) && !isFile;
    });
  });
}
