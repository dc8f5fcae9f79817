/** The server's responses, as far as the page uses them. Texts are untrusted and never rendered as HTML. */
import type { Question as AnyQuestion } from '../../client/questions.js';
import type { InboxRow as ServedRow } from '../rows.js';
import type { Overview as ServedOverview } from '../session-hub.js';

export type { Receipt, TraceStep } from '../../protocol/permissions.js';
export type { Me } from '../api.js';
export type { ChangeRow } from '../changes.js';
export type { PastRow } from '../past-sessions.js';
export type { RuleRow } from '../policy-view.js';
export type { SessionPlace } from '../project.js';
export type { HookLane, ReceiptPage, ReceiptRow } from '../receipts.js';
export type { LiveRow } from '../rows.js';

export type Json = Readonly<Record<string, unknown>>;

type KeyOf<T> = T extends unknown ? keyof T : never;

/** A question of any kind; the fields of other kinds are undefined. */
export type Question = AnyQuestion & {
  readonly [K in Exclude<KeyOf<AnyQuestion>, keyof AnyQuestion>]?: Extract<
    AnyQuestion,
    Readonly<Record<K, unknown>>
  >[K];
};

export type InboxRow = Omit<ServedRow, 'question'> & { readonly question: Question };

export type Overview = Omit<ServedOverview, 'inbox'> & { readonly inbox: readonly InboxRow[] };

export interface Envelope {
  readonly seq: number;
  readonly time: string;
  readonly event: Json & { readonly type: string };
}
