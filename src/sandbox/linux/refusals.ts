import { visible } from '../../lib/text/visible.js';
import { isAbsolute, isInside, resolve } from '../../platform/fs/paths.js';
import { REFUSAL_MARK } from '../host/proxy-rules.js';
import type { SandboxPolicy } from '../types.js';

/** A program's result and what the sandbox knows about it. */
export interface Evidence {
  readonly exitCode: number | null;
  readonly output: string;
  readonly cwd: string;
  readonly policy: SandboxPolicy;
  /** Refused targets and reasons. */
  readonly refusedHosts: ReadonlyMap<string, string>;
  /** Directories in which nothing new can be created. */
  readonly frozen: readonly string[];
}

const MOST_LINES = 5;
const LONGEST_OUTPUT = 200_000;

/**
 * Tells the model what the sandbox prevented; undefined without evidence. An error message counts only when
 * the policy explains it, because a wrong hint is worse than none.
 */
export function describeRefusals(evidence: Evidence): string | undefined {
  const output = evidence.output.slice(-LONGEST_OUTPUT);
  const found = new Set<string>();
  for (const [target, why] of evidence.refusedHosts) {
    found.add(`network: ${visible(target)} was refused (${visible(why)})`);
  }
  for (const line of output.split('\n')) {
    const refusal = ofFile(line, evidence) ?? ofNetwork(line, evidence);
    if (refusal !== undefined) found.add(refusal);
  }
  // A successful program did not need what failed.
  if (found.size === 0 || (evidence.exitCode === 0 && evidence.refusedHosts.size === 0)) {
    return undefined;
  }
  const lines = [...found];
  const more = lines.length > MOST_LINES ? `\n- and ${lines.length - MOST_LINES} more` : '';
  const shown = lines.slice(0, MOST_LINES).map((line) => `- ${line}`);
  return `The sandbox kept this command from something:\n${shown.join('\n')}${more}`;
}

const FILE_ERROR =
  /Read-only file system|Permission denied|Operation not permitted|Device or resource busy|Invalid cross-device link|No such file or directory|\b(EROFS|EACCES|EPERM|EBUSY|EXDEV|ENOENT)\b/;

function ofFile(line: string, evidence: Evidence): string | undefined {
  const error = FILE_ERROR.exec(line)?.[0];
  if (error === undefined) return undefined;
  const { policy, frozen } = evidence;
  for (const path of pathsIn(line, evidence.cwd)) {
    const covers = (list: readonly string[]): boolean => list.some((one) => isInside(path, one));
    const name = visible(path);
    if (covers(policy.hidden) && !covers(policy.shown) && !/Read-only|EROFS/.test(error)) {
      return `${name} cannot be read here`;
    }
    // Hidden trees appear empty; elsewhere a missing file is simply missing.
    if (/No such file|ENOENT/.test(error)) continue;
    if (covers(policy.protected)) return `${name} is protected and cannot be changed`;
    if (/cross-device|EXDEV/.test(error)) continue;
    if (
      frozen.some((directory) => isInside(path, directory)) &&
      /Read-only|EROFS|busy|EBUSY/.test(error)
    ) {
      return `${name} cannot be made: a protected symbolic link is in its directory`;
    }
    if (!covers(policy.writable) && /Read-only|EROFS/.test(error)) {
      return `${name} is outside the directories that may be written`;
    }
  }
  if (/socket/i.test(line) && policy.weaker.unixSockets === undefined) {
    return 'sockets of other programs on this machine cannot be used';
  }
  return /Read-only file system|\bEROFS\b/.test(error)
    ? 'a file outside the directories that may be written'
    : undefined;
}

/** Extracts words that look like paths, resolved against the working directory. */
function pathsIn(line: string, cwd: string): readonly string[] {
  const words = [...line.matchAll(/['"`‘“]([^'"`’”]+)['"`’”]|([^\s'"`:,;()]+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
  return words
    .filter((word) => word.includes('/') || word.includes('.'))
    .map((word) => (isAbsolute(word) ? word : resolve(cwd, word)));
}

const NETWORK_ERROR =
  /Could not resolve (?:host|proxy)|Temporary failure in name resolution|Name or service not known|Network is unreachable|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)|\bEAI_AGAIN\b|\bENETUNREACH\b|Could not resolve hostname|nodename nor servname/i;

function ofNetwork(line: string, { policy, refusedHosts }: Evidence): string | undefined {
  if (line.includes(REFUSAL_MARK)) {
    if (refusedHosts.size > 0) return undefined;
    return `network: ${visible(line.slice(line.indexOf(REFUSAL_MARK) + REFUSAL_MARK.length + 2))}`;
  }
  if (policy.network.kind === 'open' || !NETWORK_ERROR.test(line)) return undefined;
  return policy.network.kind === 'none'
    ? 'there is no network here'
    : 'there is no network here but through the proxy that HTTP_PROXY names, for allowed hosts';
}
