import { isRecord, own } from '../../lib/own.js';
import type { SettingsFile } from '../types.js';

const FAILURE_WORDS: Readonly<Record<string, string>> = { block: 'closed', continue: 'open' };

/** Other words for the same value become the documented one, so that sources can be compared. */
export function withCurrentWords(file: SettingsFile): SettingsFile {
  const { portcullis } = file.content;
  if (!isRecord(portcullis) || typeof portcullis.hookFailure !== 'string') return file;
  const word = own(FAILURE_WORDS, portcullis.hookFailure);
  if (word === undefined) return file;
  return {
    ...file,
    content: { ...file.content, portcullis: { ...portcullis, hookFailure: word } },
  };
}
