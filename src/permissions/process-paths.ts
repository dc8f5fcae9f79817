import { toPosix } from '../platform/fs/paths.js';

const OF_PROCESS = /^proc\/[^/]+\/(task\/[^/]+\/)?(cwd|root|fd\/[^/]+)$|^dev\/fd\/[^/]+$/;
/** `proc/self/task/1/fd/3` */
const MOST_STEPS = 6;

/** Whether a path goes on behind a link that is another one for every process. */
export function throughProcess(from: readonly string[] | undefined, path: string): boolean {
  const parts = path.split('/');
  return (path.startsWith('/') ? ['/'] : (from ?? [])).some((directory) => {
    const steps = toPosix(directory).split('/').filter(Boolean);
    const isThrough = (index: number): boolean => {
      if (steps.length > MOST_STEPS || (steps[0] !== 'proc' && steps[0] !== 'dev')) return false;
      const isFile = steps.at(-2) === 'fd' && index === parts.length - 1;
      return OF_PROCESS.test(steps.join('/')) && !isFile;
    };
    if (isThrough(-1)) return true;
    return parts.some((part, index) => {
      if (part === '..') steps.pop();
      else if (part !== '' && part !== '.') steps.push(part);
      return isThrough(index);
    });
  });
}
