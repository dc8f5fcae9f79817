/** What the server sends, as far as the page reads it. All texts come from outside and are shown as text. */
import type { InboxRow as ServedRow } from '../inbox-rows.js';
import type { LiveRow } from '../session-hub.js';

export type { Receipt, TraceStep } from '../../protocol/permissions.js';
export type { Me } from '../api.js';
export type { ChangeRow, SessionPlace } from '../changes.js';
export type { PastRow } from '../past-sessions.js';
export type { RuleRow } from '../policy-view.js';
export type { HookLane, ReceiptPage, ReceiptRow } from '../receipts.js';
export type { LiveRow } from '../session-hub.js';

export type Json = Readonly<Record<string, unknown>>;

export type InboxRow = Omit<ServedRow, 'question'> & { readonly question: Question };

export interface Overview {
  readonly sessions: readonly LiveRow[];
  readonly inbox: readonly InboxRow[];
}

export interface AnswerOption {
  readonly key: string;
  readonly label: string;
  readonly rule?: string;
  readonly savedIn?: string;
  readonly answer?: Json;
}

export interface QuestionCall {
  readonly toolUseId: string;
  readonly tool: string;
  readonly summary: string;
  readonly input: Json;
  readonly cwd: string;
  readonly heldBy?: string;
  readonly blockedPath?: string;
  readonly rule?: { readonly text: string; readonly source: string };
  readonly server?: { readonly name: string; readonly source: string };
}

export interface Question {
  readonly id: string;
  readonly kind: 'permission' | 'plan' | 'choices' | 'form' | 'url' | 'confirm';
  readonly reason: string;
  readonly call?: QuestionCall;
  readonly options?: readonly AnswerOption[];
  readonly markdown?: string;
  readonly title?: string;
  readonly details?: readonly string[];
  readonly message?: string;
  readonly server?: string;
  readonly url?: string;
  readonly host?: string;
  readonly warnings?: readonly string[];
  readonly fields?: readonly FormField[];
  readonly questions?: readonly {
    readonly question: string;
    readonly header: string;
    readonly multiSelect: boolean;
    readonly options: readonly { readonly label: string; readonly description: string }[];
  }[];
}

export interface FormField {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

export interface Envelope {
  readonly seq: number;
  readonly time: string;
  readonly event: Json & { readonly type: string };
}
