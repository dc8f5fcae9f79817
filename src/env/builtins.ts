/**
 * Node's modules that a start does not need, loaded when they are first used: each costs one to five
 * milliseconds, which every start would pay.
 */
export function childProcess(): typeof import('node:child_process') {
  return process.getBuiltinModule('node:child_process');
}

export function fileSystemPromises(): typeof import('node:fs/promises') {
  return process.getBuiltinModule('node:fs/promises');
}

let crypto: typeof import('node:crypto') | undefined;

/** Kept: every call of a tool is hashed, and to ask for a module costs as much as a short hash. */
export function cryptography(): typeof import('node:crypto') {
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto;
}
