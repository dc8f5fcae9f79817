import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import type { AskAnswer, AskRequest } from '../../src/app.js';
import { openSandbox } from '../../src/sandbox/session/sandbox.js';
import { type Attempt, attempt, type Outcome } from '../security/attempt.js';

const state = mkdtempSync(path.join(tmpdir(), 'sandbox-probe-'));
const { availability } = await openSandbox({ env: process.env, stateDirectory: state });
rmSync(state, { recursive: true, force: true });

/** Why nothing can be run inside here; undefined: it can. Stands in the names of the tests that are skipped. */
export const missing: string | undefined =
  availability.kind === 'available' ? undefined : availability.missing;

export const why = missing === undefined ? '' : ` (left out: ${missing})`;

/** Neither a place for temporary files, which are private inside, nor one that nobody may write. */
export const BASE: string = process.getuid?.() === 0 ? '/srv' : homedir();

/** A real session with the sandbox on, and all commands allowed unless the attempt says otherwise. */
export function inside(
  given: Omit<Attempt, 'settings'> & {
    readonly sandbox?: Readonly<Record<string, unknown>>;
    readonly permissions?: Readonly<Record<string, unknown>>;
    readonly more?: Readonly<Record<string, unknown>>;
  },
): Promise<Outcome> {
  const { sandbox, permissions, more, ...rest } = given;
  return attempt({
    under: BASE,
    ...rest,
    settings: {
      sandbox: { enabled: true, ...sandbox },
      permissions: permissions ?? { allow: ['Bash'] },
      ...more,
    },
  });
}

/** Somebody who answers every question in the same way, and what he was asked. */
export function person(answer: AskAnswer): {
  readonly asked: string[];
  asker(request: AskRequest): Promise<AskAnswer>;
} {
  const asked: string[] = [];
  return {
    asked,
    async asker(request) {
      asked.push(request.reason);
      return answer;
    },
  };
}
