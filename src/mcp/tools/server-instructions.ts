import { shellWord } from '../../lib/shell-word.js';
import type { ApprovedTools } from '../approval/tool-approvals.js';
import { describeWordsChange } from './change.js';
import { wordsFingerprint } from './fingerprint.js';

/** What one server says about the use of its tools (`instructions`), held against what was accepted. */
export interface ServerWords {
  /** What the model may be told; empty for nothing. */
  readonly inForce: string;
  /** Why what it says now is withheld. Undefined: it is not. */
  readonly problem: string | undefined;
  /** Set when nobody has taken note of any words of this server: these are to be remembered. */
  readonly unnoted: boolean;
}

export interface SaidWords {
  /** Of the server. */
  readonly name: string;
  /** What it says now, fit to be shown; empty when it says nothing. */
  readonly said: string;
  /** What this session knows to be in force; undefined: nothing yet. */
  readonly known: string | undefined;
  readonly approved: Pick<ApprovedTools, 'damaged' | 'wordsFingerprint' | 'words'>;
}

/** The first words of a server stand; others wait until somebody has accepted them. */
export function heardWords({ name, said, known, approved }: SaidWords): ServerWords {
  const stored = approved.wordsFingerprint();
  const held = stored ?? (known === undefined ? undefined : wordsFingerprint(known));
  const unnoted = stored === undefined;
  if (held === wordsFingerprint(said)) return { inForce: said, problem: undefined, unnoted };
  // Words that are taken back are not repeated in the server's name.
  if (held !== undefined && said === '') return { inForce: '', problem: undefined, unnoted: false };
  const remedy = `The model is not told the new words. To look and accept: portcullis mcp approve ${shellWord(name)} --tools`;
  if (held !== undefined) {
    const old = known !== undefined && wordsFingerprint(known) === held ? known : approved.words();
    const change = describeWordsChange(old, said);
    const problem = `the MCP server "${name}" no longer says what it said about the use of its tools: ${change}. ${remedy}`;
    return { inForce: old ?? '', problem, unnoted: false };
  }
  // fail-closed: an approval that is lost may have been one for other words.
  if (approved.damaged && said !== '') {
    const problem = `what was accepted of the MCP server "${name}" can no longer be read, so nobody can tell whether what it says about the use of its tools has changed. ${remedy}`;
    return { inForce: '', problem, unnoted: false };
  }
  return { inForce: said, problem: undefined, unnoted: true };
}
