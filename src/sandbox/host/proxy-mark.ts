/** Begins every refusal that the proxy of a sandbox sends. */
export const REFUSAL_MARK = 'Refused by the Portcullis sandbox';
