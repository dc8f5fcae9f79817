import { type AskRequest, suggestedUpdates } from '../app.js';
import { isRecord } from '../lib/own.js';
import { permissionOptions, planOptions } from './permission-options.js';
import type {
  ChoicesQuestion,
  PermissionQuestion,
  PlanQuestion,
  QuestionCall,
} from './questions.js';

type CallQuestion = (PermissionQuestion | PlanQuestion | ChoicesQuestion) & {
  readonly agent: AskRequest['call']['agent'];
  readonly reason: string;
  readonly expiresAt?: string;
};

/** The question that a tool call puts to people. */
export function callQuestion(request: AskRequest): CallQuestion {
  const { call, reason } = request;
  const facts = {
    agent: call.agent,
    reason,
    call: callFacts(request),
    ...(request.question && { expiresAt: new Date(request.question.expiresAt).toISOString() }),
  };
  const questions = call.tool.name === 'AskUserQuestion' ? readChoices(call.input) : undefined;
  if (questions !== undefined) return { ...facts, kind: 'choices', questions };
  const { plan } = call.input;
  if (call.tool.name === 'ExitPlanMode' && typeof plan === 'string') {
    return { ...facts, kind: 'plan', markdown: plan, options: planOptions() };
  }
  return { ...facts, kind: 'permission', options: permissionOptions(request) };
}

function callFacts(request: AskRequest): QuestionCall {
  const { call, heldBy, blockedPath, rule } = request;
  const { tool, subject, input, toolUseId, workspace } = call;
  return {
    toolUseId,
    tool: tool.name,
    summary: subject.summary,
    input,
    cwd: workspace.cwd,
    ...(heldBy !== undefined && { heldBy }),
    ...(blockedPath !== undefined && { blockedPath }),
    ...(rule !== undefined && { rule }),
    ...(tool.origin && { server: { name: tool.origin.server, source: tool.origin.source } }),
    ...(tool.needsPerson === true && { needsPerson: true }),
    suggestedUpdates: suggestedUpdates(request),
  };
}

/** Undefined: the input is not what the tool's schema promises, and is shown as any other call. */
function readChoices({ questions }: Readonly<Record<string, unknown>>) {
  if (!Array.isArray(questions)) return undefined;
  const rows = questions.map(readChoice);
  return rows.every((row) => row !== undefined) ? rows : undefined;
}

function readChoice(row: unknown): ChoicesQuestion['questions'][number] | undefined {
  if (!isRecord(row) || typeof row.question !== 'string' || !Array.isArray(row.options)) {
    return undefined;
  }
  const options = row.options.filter(isRecord).map((option) => ({
    label: String(option.label),
    description: typeof option.description === 'string' ? option.description : '',
    ...(typeof option.preview === 'string' && { preview: option.preview }),
  }));
  return {
    question: row.question,
    header: typeof row.header === 'string' ? row.header : '',
    multiSelect: row.multiSelect === true,
    options,
  };
}
