import { isRecord } from '../lib/own.js';
import { textOf } from '../protocol/content.js';
import type { OwnFiles } from '../skills/discovery/bundled-skills.js';
import type { AttachmentParts } from '../skills/invoke/attachments.js';
import type { CallForSkill } from './skill-calls.js';

/** Files that the text of skills names are calls of Read. */
export function skillFiles(
  call: CallForSkill,
  { newId, own }: { readonly newId: () => string; readonly own: Pick<OwnFiles, 'open'> },
): AttachmentParts['read'] {
  return async ({ path, agent, ownDirectory }, signal) => {
    const id = `skill_${newId()}`;
    const close = ownDirectory === undefined ? undefined : own.open(id, ownDirectory);
    try {
      const ran = await call({ id, tool: 'Read', input: { file_path: path }, agent }, signal);
      if (!ran.ok) return { kind: 'refused', reason: ran.error };
      const { block, structured } = ran.value;
      const shown = typeof block.content === 'string' ? block.content : textOf(block.content);
      if (block.is_error === true) return { kind: 'failed', reason: shown };
      const { type, file } = isRecord(structured) ? structured : {};
      if (type !== undefined && type !== 'text') return { kind: 'failed', reason: 'it is no text' };
      // What a hook has put in its place has no file.
      if (!isRecord(file) || typeof file.content !== 'string') {
        return { kind: 'read', text: shown, isCut: false };
      }
      return { kind: 'read', text: file.content, isCut: file.numLines !== file.totalLines };
    } finally {
      close?.();
    }
  };
}
