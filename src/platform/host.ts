import { release, tmpdir, type } from 'node:os';

/** What the model is told about the machine. */
export function hostFacts(): {
  readonly platform: string;
  readonly temporaryDirectory: string;
  readonly isRoot: boolean;
  readonly os: string;
} {
  return {
    platform: `${type()} ${release()}`,
    temporaryDirectory: tmpdir(),
    os: process.platform,
    isRoot: process.getuid?.() === 0,
  };
}
