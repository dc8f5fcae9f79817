import type { FileSystem } from '../../platform/fs/fs.js';
import { displayPath } from '../../platform/fs/paths.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import { failure, failureFrom } from '../output.js';
import type { Tool } from '../tool.js';
import type { Drafts } from './drafts.js';
import { targetPath } from './file-target.js';
import description from './write-draft.md';
import type { WriteLedger } from './write-ledger.js';
import { writeWhole } from './write-whole.js';

export function writeDraftTool(deps: {
  fs: FileSystem;
  drafts: Pick<Drafts, 'get' | 'drop'>;
  ledger?: WriteLedger;
}): Tool<ToolInputs['WriteDraft']> {
  return defineTool({
    name: 'WriteDraft',
    kind: 'edit',
    description,
    subject: (input, workspace) => {
      const draft = deps.drafts.get(input.draft_id);
      if (draft === undefined) return { paths: [], summary: `Write draft ${input.draft_id}` };
      const path = targetPath(draft.path, workspace);
      return {
        paths: [{ path, access: 'write' }],
        summary: `Write ${displayPath(path, workspace.cwd)} from ${input.draft_id}`,
      };
    },
    run: async (input, context) => {
      const draft = deps.drafts.get(input.draft_id);
      if (draft === undefined) {
        return failure(
          `There is no draft "${input.draft_id}" (used already, or too old). Use Write with all of the content.`,
        );
      }
      const path = targetPath(draft.path, context.workspace);
      const content = draft.content + (input.append ?? '');
      try {
        const writer = { ledger: deps.ledger, ...context };
        const output = await writeWhole(deps.fs, { path, content }, writer);
        // A draft that could not be written stays, so that the call can be repeated after a Read.
        if (output.isError !== true) deps.drafts.drop(input.draft_id);
        return output;
      } catch (thrown) {
        return failureFrom(thrown);
      }
    },
  });
}
