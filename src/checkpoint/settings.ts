import { homeDirectory, isInside } from '../platform/fs/paths.js';
import type { SettingValues } from '../settings/types.js';

/** `portcullis.checkpoints` with defaults. */
export interface CheckpointLimits {
  readonly keepIgnored: boolean;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  readonly maxStoreBytes: number;
  readonly keepDays: number;
  readonly waitMs: number;
}

export function checkpointLimits(values: Pick<SettingValues, 'get'>): CheckpointLimits {
  const said = (name: string): unknown => values.get(`portcullis.checkpoints.${name}`)?.value;
  const number = (name: string, otherwise: number): number => {
    const value = said(name);
    return typeof value === 'number' ? value : otherwise;
  };
  return {
    keepIgnored: said('ignored') === 'keep',
    maxFiles: number('maxFiles', 300_000),
    maxFileBytes: number('maxFileBytes', 50 * 1024 * 1024),
    maxStoreBytes: number('maxStoreBytes', 2 * 1024 * 1024 * 1024),
    keepDays: number('keepDays', 30),
    waitMs: number('waitMs', 1_000),
  };
}

/** Why a session keeps no change journal, for people. */
export function whyNotJournalled(
  values: Pick<SettingValues, 'get'>,
  env: Readonly<Record<string, string | undefined>>,
  { asked, cwd }: { readonly asked: boolean | undefined; readonly cwd: string },
): string | undefined {
  if (env.CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING === '1') {
    return 'CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING is set';
  }
  const setting = values.get('fileCheckpointingEnabled')?.value;
  if (setting === false) return 'fileCheckpointingEnabled is false';
  if (isInside(homeDirectory(env), cwd)) {
    return 'the working directory holds the whole home directory';
  }
  return asked === false ? 'the host did not ask for file checkpoints' : undefined;
}

/** `portcullis.effects.onViolation`: `rollback` from any source wins. */
export function takesBack(values: Pick<SettingValues, 'said'>): boolean {
  return values.said('portcullis.effects.onViolation').some(({ value }) => value === 'rollback');
}
