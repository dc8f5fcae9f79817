import type { AgentRef } from '../protocol/agent-ref.js';
import type { ElicitField, ElicitReply } from '../protocol/elicitation.js';
import type { AnswerScope, PermissionUpdate } from '../protocol/permissions.js';

/** A question that a session puts to its clients. JSON values only. */
export type Question = QuestionFacts &
  (
    | PermissionQuestion
    | PlanQuestion
    | ChoicesQuestion
    | FormQuestion
    | UrlQuestion
    | ConfirmQuestion
  );

export type QuestionKind = Question['kind'];

interface QuestionFacts {
  readonly id: string;
  /** The agent that waits for the answer. */
  readonly agent: Pick<AgentRef, 'id' | 'path' | 'type' | 'name' | 'depth' | 'background'>;
  /** Why it is asked: the line of the receipt. */
  readonly reason: string;
  /** ISO times. Without an expiry the question waits as long as a client can answer it. */
  readonly askedAt: string;
  readonly expiresAt?: string;
}

/** Whether a tool call may run. */
export interface PermissionQuestion {
  readonly kind: 'permission';
  readonly call: QuestionCall;
  /** The refusal is last. */
  readonly options: readonly AnswerOption[];
}

/** Whether a plan is to be carried out. */
export interface PlanQuestion {
  readonly kind: 'plan';
  readonly call: QuestionCall;
  readonly markdown: string;
  readonly options: readonly AnswerOption[];
}

/** The questions of AskUserQuestion. */
export interface ChoicesQuestion {
  readonly kind: 'choices';
  readonly call: QuestionCall;
  readonly questions: readonly {
    readonly question: string;
    readonly header: string;
    readonly multiSelect: boolean;
    readonly options: readonly {
      readonly label: string;
      readonly description: string;
      readonly preview?: string;
    }[];
  }[];
}

/** A form of an MCP server. */
export interface FormQuestion {
  readonly kind: 'form';
  readonly server: string;
  readonly message: string;
  readonly warnings: readonly string[];
  readonly fields: readonly ElicitField[];
  readonly requestedSchema?: Readonly<Record<string, unknown>>;
}

/** A page that an MCP server asks the person to open. */
export interface UrlQuestion {
  readonly kind: 'url';
  readonly server: string;
  readonly message: string;
  readonly warnings: readonly string[];
  readonly url: string;
  readonly host: string;
  readonly elicitationId?: string;
}

/** A yes or no of the session itself. */
export interface ConfirmQuestion {
  readonly kind: 'confirm';
  readonly topic: 'trust' | 'mcp_server' | 'include' | 'model_switch' | 'rewind' | 'memory';
  readonly title: string;
  readonly details: readonly string[];
  /** The refusal is last. */
  readonly options: readonly { readonly key: string; readonly label: string }[];
}

/** The tool call that a question is about. */
export interface QuestionCall {
  readonly toolUseId: string;
  readonly tool: string;
  readonly summary: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly cwd: string;
  /** The guard that asks; absent where no rule allows the call. */
  readonly heldBy?: string;
  readonly blockedPath?: string;
  /** The ask rule that matched, with its file and line. */
  readonly rule?: { readonly text: string; readonly source: string };
  readonly server?: { readonly name: string; readonly source: string };
  readonly needsPerson?: boolean;
  readonly suggestedUpdates: readonly PermissionUpdate[];
}

/** One way to answer a permission question. */
export interface AnswerOption {
  /** One letter, unique within the question. */
  readonly key: string;
  readonly label: string;
  /** The exact rule that this answer saves, and the settings file it goes to. */
  readonly rule?: string;
  readonly savedIn?: string;
  readonly answer: PermissionAnswer;
}

export type PermissionAnswer =
  | {
      readonly behavior: 'allow';
      readonly updatedInput?: Readonly<Record<string, unknown>>;
      readonly updatedPermissions?: readonly PermissionUpdate[];
      /** How far the yes reaches; absent: this call alone. */
      readonly scope?: AnswerScope;
    }
  | { readonly behavior: 'deny'; readonly message?: string; readonly interrupt?: boolean };

/** What each kind of question takes as an answer. */
export interface Answers {
  readonly permission: PermissionAnswer;
  readonly plan: PermissionAnswer;
  /** By the text of the question; several labels of one question are joined by ", ". */
  readonly choices: PermissionAnswer | { readonly answers: Readonly<Record<string, string>> };
  readonly form: ElicitReply;
  readonly url: ElicitReply;
  /** The key of an option. */
  readonly confirm: { readonly option: string };
}

export type AnyAnswer = Answers[QuestionKind];
