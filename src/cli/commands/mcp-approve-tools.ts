import { PortcullisError } from '../../errors.js';
import { shownInstructions } from '../../mcp/definition-check.js';
import { definingParts, wordsFingerprint } from '../../mcp/fingerprint.js';
import { type ApprovedTools, openToolApprovals } from '../../mcp/tool-approvals.js';
import { describeChange, describeWordsChange } from '../../mcp/tool-change.js';
import type { ListedTool } from '../../mcp/tool-listing.js';
import { visible } from '../../util/visible.js';
import { EXIT } from '../exit-code.js';
import type { Output } from '../output.js';
import { bringUp, connectionNamed } from './mcp-reach.js';
import { openToolsHere } from './tools-here.js';

export interface ToolAnswer {
  readonly name: string;
  /** Resolves to a clear yes, or to false. */
  confirm(): Promise<boolean>;
}

/** Shows what a server's tools say of themselves now, and keeps the answer, bound to these very words. */
export async function approveTools({ name, confirm }: ToolAnswer, output: Output): Promise<number> {
  const here = await openToolsHere({
    entrypoint: 'portcullis-mcp',
    persist: false,
    asksModel: false,
    emit: (news) => {
      if (news.type === 'notice' && news.level === 'warning') output.warn(news.text);
    },
  });
  try {
    const found = connectionNamed(here, name);
    const failed = await bringUp(here, found);
    if (failed !== undefined) throw new PortcullisError('network', failed);
    const { declaration } = found.connection;
    const tools = found.mcp.listing(name)?.tools ?? [];
    const { fs, stateDirectory } = here.ground;
    const approvals = openToolApprovals({ fs, stateDirectory });
    const before = approvals.read(declaration);
    const open = tools.filter((tool) => before.fingerprint(tool.name) !== tool.fingerprint);
    const words = shownInstructions(found.connection.status().instructions) ?? '';
    const noted = before.wordsFingerprint() ?? wordsFingerprint('');
    const saysOther = noted !== wordsFingerprint(words);
    if (open.length === 0 && !saysOther && !before.damaged) {
      output.out(`All ${tools.length} definitions of "${visible(name)}" are approved already.\n`);
      return EXIT.done;
    }
    for (const tool of open) output.out(definitionText(tool, before));
    if (saysOther) output.out(wordsText(words, before));
    if (!(await confirm())) {
      output.out('Not approved.\n');
      return EXIT.error;
    }
    if (before.damaged) await approvals.forget(declaration);
    await approvals.record(declaration, before.damaged ? tools : open);
    await approvals.recordWords(declaration, words);
    found.mcp.wordsAccepted(found.connection, words);
    output.out(`Approved: ${open.length} definitions of "${visible(name)}", until they change.\n`);
    return EXIT.done;
  } finally {
    await here.close();
  }
}

/** As the model would be told it, with all that is invisible in it. */
function wordsText(words: string, before: ApprovedTools): string {
  const isNew = before.wordsFingerprint() === undefined;
  const head = isNew ? 'new' : `changed: ${describeWordsChange(before.words(), words)}`;
  const lines = words === '' ? ['(nothing)'] : words.split('\n');
  return `What it says about the use of its tools (${head})\n${lines.map((line) => `  ${visible(line)}\n`).join('')}`;
}

/** Whole: a person must be able to see whatever a model would. */
function definitionText(tool: ListedTool, before: ApprovedTools): string {
  const earlier = before.sameName(tool.name) ?? tool.name;
  const isNew = before.fingerprint(earlier) === undefined;
  const head = isNew ? 'new' : `changed: ${describeChange(before.definition(earlier), tool.raw())}`;
  const lines = JSON.stringify(definingParts(tool.raw()), null, 2).split('\n');
  return `${visible(tool.name)} (${head})\n${lines.map((line) => `  ${visible(line)}\n`).join('')}`;
}
