/** Marks the summary for the model, and for whoever looks for it in a history. */
export const SUMMARY_TAG = 'conversation-summary';
