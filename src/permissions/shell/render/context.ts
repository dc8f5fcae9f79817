import type { Script } from 'unbash';
import type { Source } from './source.js';

/** Where an expansion stands: outside quotes, in double quotes, or in the text of a here-document. */
export type Quoting = 'bare' | 'quoted' | 'document';

export interface RenderContext {
  readonly source: Source;
  /** Renders the code of a substitution. */
  code(script: Script, context: RenderContext): string;
}
