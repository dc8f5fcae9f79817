import { own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { Environment } from '../../platform/environment.js';

export interface HookHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** Variables that were asked for and did not pass, or do not exist: they became nothing. */
  readonly leftOut: readonly string[];
}

/**
 * The headers of a hook with their variables (`$NAME`, `${NAME}`) filled in. Only those that
 * `mayPass` are; the others become nothing. What is filled in is not looked at for variables again.
 * The error says which header cannot be sent.
 */
export function hookHeaders(
  templates: Readonly<Record<string, string>>,
  { env, mayPass }: { readonly env: Environment; mayPass(name: string): boolean },
): Result<HookHeaders, string> {
  const leftOut = new Set<string>();
  const variable = (name: string): string => {
    const value = mayPass(name) ? own(env, name) : undefined;
    if (value === undefined) leftOut.add(name);
    return value ?? '';
  };
  const headers = new Map<string, string>();
  for (const [written, template] of Object.entries(templates)) {
    const name = written.toLowerCase();
    if (!HEADER_NAME.test(name)) return err(`"${written}" is no name of a header`);
    // fail-closed: dropped in silence, the request would not be the one that was meant.
    if (NOT_FOR_HOOKS.test(name)) return err(`the header ${written} may not be set`);
    if (headers.has(name)) return err(`the header ${written} is given twice`);
    const filled = template.replace(
      VARIABLE,
      (_whole, braced: string | undefined, bare: string | undefined) =>
        variable(braced ?? bare ?? ''),
    );
    headers.set(name, filled.replace(CONTROL, ''));
  }
  return ok({ headers: Object.fromEntries(headers), leftOut: [...leftOut] });
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** They belong to the connection, to its framing or to a proxy. */
const NOT_FOR_HOOKS =
  /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|expect|proxy-.*)$/;

const VARIABLE = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

/** CR and LF would end the header and begin another one. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;
