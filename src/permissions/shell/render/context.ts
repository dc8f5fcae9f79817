import type { DoubleQuotedChild, Script } from 'unbash';
import type { Source } from './source.js';

/** Where an expansion stands: outside quotes, in double quotes, or in the text of a here-document. */
export type Quoting = 'bare' | 'quoted' | 'document';

export type Expansion = Exclude<DoubleQuotedChild, { type: 'Literal' }>;

export interface RenderContext {
  readonly source: Source;
  /** How many substitutions enclose it. */
  readonly depth: number;
  /** Renders the code of a substitution. */
  code(script: Script, context: RenderContext): string;
  /** An expansion as it is written inside the quotes it stands in. */
  expansion(part: Expansion, context: RenderContext, quoting: Quoting): string;
}
