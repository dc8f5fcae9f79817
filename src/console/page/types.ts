/** What the server sends, as far as the page reads it. All texts come from outside and are shown as text. */

export type Json = Readonly<Record<string, unknown>>;

export interface Me {
  readonly name: string;
  readonly role: 'viewer' | 'approver' | 'operator';
  /** Whether an agent's own processes are kept from answering. */
  readonly tellsAgents: boolean;
}

export interface AgentRow {
  readonly agent: {
    readonly id: string;
    readonly path: string;
    readonly type: string;
    readonly background: boolean;
  };
  readonly description: string;
  readonly spent?: {
    readonly tokens: number;
    readonly costUsd: number | null;
    readonly left: Readonly<Record<string, number | undefined>>;
  };
}

export interface LiveRow {
  readonly key: string;
  readonly sessionId: string;
  readonly kind: string;
  readonly pid: number;
  readonly cwd: string;
  readonly title: string;
  readonly state: 'needs you' | 'working' | 'idle' | 'opening' | 'unreachable';
  readonly startedAt: string;
  readonly model: string;
  readonly mode: string;
  readonly models: readonly { readonly value: string; readonly displayName: string }[];
  readonly costUsd: number;
  readonly unknownModels: readonly string[];
  readonly contextTokens?: number;
  readonly contextWindow?: number;
  readonly agents: readonly AgentRow[];
  readonly tasks: readonly {
    readonly taskId: string;
    readonly taskType: string;
    readonly description: string;
  }[];
  readonly servers: readonly { readonly name: string; readonly status: string }[];
  readonly problem?: string;
}

export interface PastRow {
  readonly sessionId: string;
  readonly title: string;
  readonly cwd: string;
  readonly lastModified: number;
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

export interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly string[];
}

export interface InboxRow {
  readonly id: string;
  readonly key: string;
  readonly sessionId: string;
  readonly title: string;
  readonly hash: string;
  readonly agent: string;
  readonly askedAt: string;
  readonly expiresAt?: string;
  readonly reason: string;
  readonly sameAs: string;
  readonly question: Question;
  readonly change?: {
    readonly path: string;
    readonly note: string;
    readonly hunks: readonly Hunk[];
  };
  readonly tooLong: boolean;
}

export interface Overview {
  readonly sessions: readonly LiveRow[];
  readonly inbox: readonly InboxRow[];
}

export interface TraceStep {
  readonly guard: string;
  readonly decision: string;
  readonly reason?: string;
  readonly source?: string;
  readonly ms?: number;
  readonly failure?: string;
}

export interface Receipt {
  readonly toolUseId: string;
  readonly tool: string;
  readonly agent: string;
  readonly decision: string;
  readonly decidedBy: string;
  readonly reason: string;
  readonly mode: string;
  readonly command?: string;
  readonly ms?: number;
  readonly input: unknown;
  readonly trace: readonly TraceStep[];
}

export interface ReceiptRow {
  readonly n: number;
  readonly time: string;
  readonly session: string;
  readonly cwd: string;
  readonly receipt: Receipt;
}

export interface Envelope {
  readonly seq: number;
  readonly time: string;
  readonly event: Json & { readonly type: string };
}

export interface HookLane {
  readonly hook: string;
  readonly source: string;
  readonly runs: readonly {
    readonly time: string;
    readonly ms: number;
    readonly decision: string;
    readonly tool: string;
    readonly failure?: string;
  }[];
}
