import { isRecord } from '../../lib/own.js';
import type { Draft } from './types.js';

/**
 * What weakens the sandbox. fail-closed: a key counts unless it is known to restrict, so that a new
 * one cannot open anything unseen.
 */
export function sandboxDrafts(value: unknown): readonly Draft[] {
  return leaves(value, ['sandbox']).flatMap(({ way, leaf }) => {
    const name = way.join('.');
    const restricts = RESTRICTS.get(name);
    if (restricts?.(leaf) === true) return [];
    const runs = typeof leaf === 'string' ? [leaf] : [];
    return [{ kind: 'sandbox', name, text: JSON.stringify(leaf), way, value: leaf, runs }];
  });
}

const isTrue = (value: unknown): boolean => value === true;
const isFalse = (value: unknown): boolean => value === false;
const always = (): boolean => true;

const RESTRICTS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['sandbox.enabled', isTrue],
  ['sandbox.failIfUnavailable', isTrue],
  ['sandbox.autoAllowBashIfSandboxed', isFalse],
  ['sandbox.allowUnsandboxedCommands', isFalse],
  ['sandbox.enableWeakerNestedSandbox', isFalse],
  ['sandbox.enableWeakerNetworkIsolation', isFalse],
  ['sandbox.allowNestedUserNamespaces', isFalse],
  ['sandbox.allowAppleEvents', isFalse],
  ['sandbox.filesystem.disabled', isFalse],
  ['sandbox.filesystem.denyRead', always],
  ['sandbox.filesystem.denyWrite', always],
  ['sandbox.filesystem.allowManagedReadPathsOnly', isTrue],
  ['sandbox.credentials.files', always],
  ['sandbox.credentials.envVars', always],
  ['sandbox.credentials.awsPairs', always],
  ['sandbox.network.deniedDomains', always],
  ['sandbox.network.strictAllowlist', isTrue],
  ['sandbox.network.allowManagedDomainsOnly', isTrue],
  ['sandbox.network.allowAllUnixSockets', isFalse],
  ['sandbox.network.allowLocalBinding', isFalse],
]);

interface Leaf {
  readonly way: readonly string[];
  readonly leaf: unknown;
}

function leaves(value: unknown, way: readonly string[]): readonly Leaf[] {
  if (!isRecord(value)) return [{ way, leaf: value }];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...way, key]));
}
