import type { FileSystem } from '../../platform/fs/fs.js';
import type { ToolInputs } from '../../protocol/tools.schema.js';
import { defineTool } from '../define-tool.js';
import { failureFrom } from '../output.js';
import type { Tool } from '../tool.js';
import { fileSubject, targetPath } from './file-target.js';
import description from './write.md';
import type { WriteLedger } from './write-ledger.js';
import { writeWhole } from './write-whole.js';

export function writeTool(deps: {
  fs: FileSystem;
  ledger?: WriteLedger;
}): Tool<ToolInputs['Write']> {
  return defineTool({
    name: 'Write',
    kind: 'edit',
    description,
    subject: (input, workspace) =>
      fileSubject('Write', { path: input.file_path, access: 'write' }, workspace),
    run: async (input, context) => {
      const path = targetPath(input.file_path, context.workspace);
      try {
        const writer = { ledger: deps.ledger, ...context };
        return await writeWhole(deps.fs, { path, content: input.content }, writer);
      } catch (thrown) {
        return failureFrom(thrown);
      }
    },
  });
}
