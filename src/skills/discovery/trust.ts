import type { UsedDocument } from '../../settings/trust/types.js';

/** Who says whether the `.claude` of a directory may grant and execute. */
export interface Trusting {
  /** `used`: a document of it that is about to be used, in the text in which that happens. */
  trusts(directory: string, used?: UsedDocument): Promise<boolean>;
}

export async function isTrusted(
  deps: Trusting,
  directory: string,
  used?: UsedDocument,
): Promise<boolean> {
  try {
    return await deps.trusts(directory, used);
  } catch {
    // fail-closed: no answer is no trust.
    return false;
  }
}

/** Each directory is asked about once for each look. */
export function rememberedTrust(deps: Trusting): (directory: string) => Promise<boolean> {
  const answers = new Map<string, Promise<boolean>>();
  return (directory) => {
    const answer = answers.get(directory) ?? isTrusted(deps, directory);
    answers.set(directory, answer);
    return answer;
  };
}
